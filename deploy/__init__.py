"""How the service is deployed: secrets, and its servers on one machine."""
