"""Projects: what they may use of the service, and what they have used."""
