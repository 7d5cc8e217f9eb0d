"""What was a user served? Telemetry as it comes in, read into generations: pure, and without content."""
