"""What a decision costs through each dialect, beside the same decision through Stanchion itself."""
