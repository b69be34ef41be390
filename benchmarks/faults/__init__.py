"""Bad days: what breaks is made to break; promises are measured from outside."""
