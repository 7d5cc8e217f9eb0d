"""The whole product in a minute: lab, canary and a live view, by the real code with compressed time."""
