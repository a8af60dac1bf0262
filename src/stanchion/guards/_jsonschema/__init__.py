"""JSON Schema: values held against schemas in linear time, and what does not fit told in words."""
