"""Policy files: read, checked, compiled into indexed chains."""
