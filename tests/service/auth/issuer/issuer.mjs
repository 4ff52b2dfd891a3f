// An OpenID Connect issuer on loopback: node-oidc-provider, a certified implementation, which makes its keys
// anew at each start. Its one argument is a JSON document:
//   port       where it listens
//   clock      how many seconds its clock is ahead
//   clients    the claims of each client that asks for tokens by itself, by its id, which is its secret too
//   accounts   the claims of each person, by their name; any password will do
// People come through the client `terminal`, which is public. A token is made out for the host of the resource that
// is asked for, such as https://hamtune.example/ES256, and signed as its path says.

import { generateKeyPairSync } from "node:crypto";

import Provider from "oidc-provider";

const { port, clock, clients, accounts } = JSON.parse(process.argv[2]);
const SHARED_SECRET = Buffer.alloc(32, "k");
const TOKEN_SECONDS = 60;

const rightTime = Date.now;
Date.now = () => rightTime() + clock * 1000;

function keys() {
  const kinds = [
    ["rsa", { modulusLength: 2048 }],
    ["ec", { namedCurve: "P-256" }],
    ["ed25519", {}],
  ];
  return kinds.map(([kind, options]) => generateKeyPairSync(kind, options).privateKey.export({ format: "jwk" }));
}

function resourceServer(resource) {
  const { hostname, pathname } = new URL(resource);
  const alg = pathname.slice(1);
  const key = alg.startsWith("HS") ? SHARED_SECRET : undefined;
  return {
    scope: "use",
    audience: hostname,
    accessTokenTTL: TOKEN_SECONDS,
    accessTokenFormat: alg ? "jwt" : "opaque",
    jwt: { sign: { alg, key } },
  };
}

const machines = Object.keys(clients).map((id) => ({
  client_id: id,
  client_secret: id,
  grant_types: ["client_credentials"],
  response_types: [],
  redirect_uris: [],
}));

const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: keys() },
  cookies: { keys: ["of this process"] },
  clients: [
    ...machines,
    {
      client_id: "terminal",
      application_type: "native",
      token_endpoint_auth_method: "none",
      redirect_uris: ["http://127.0.0.1/callback"],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    resourceIndicators: { enabled: true, getResourceServerInfo: (_ctx, resource) => resourceServer(resource) },
  },
  findAccount: (_ctx, name) => ({ accountId: name, claims: () => ({ sub: name }) }),
  extraTokenClaims: (_ctx, token) => (token.accountId ? accounts[token.accountId] : clients[token.clientId]),
});

provider.listen(port, "127.0.0.1");
