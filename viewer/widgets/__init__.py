"""The widgets: each paints lines that the model computed."""
