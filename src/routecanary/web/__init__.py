"""What programs ask over HTTP, beside the daemon: read `http.py` first."""
