import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../load-config.ts';

const load = (text: string) => loadConfig({ argv: ['--config', 'g.yaml'], env: {}, readFile: () => text });
const OAUTH = 'mcp_server: { enabled: true, oauth: true }\n';
const SCIM = 'scim: { enabled: true }\n';
const OPEN = 'server: { public_url: "http://gateway.example" }\n';

for (const [what, text, refusal] of [
  ['OAuth without the dashboard', `${OAUTH}console: { enabled: false }\n`, /1: mcp_server\.oauth: .*console\.enabled/],
  ['OAuth without TLS', OAUTH + OPEN, /mcp_server\.oauth: needs TLS/],
  ['SCIM at an open address', `scim: { enabled: true, base_url: "http://a.example/scim/v2" }\n`, /1: scim\.base_url: /],
  ['SCIM below an open address', SCIM + OPEN, /2: server\.public_url: /],
] as const)
  // @spec own-mcp-12, scim-1
  test(`refuses ${what}`, () => assert.throws(() => load(text), refusal));

for (const [what, text] of [
  ['OAuth behind TLS', `${OAUTH}server: { public_url: "https://gateway.example" }\n`],
  ['OAuth on the machine itself', `${OAUTH}server: { public_url: "http://127.0.0.1:8787" }\n`],
  ['SCIM without TLS where sessions have none', `${SCIM + OPEN}console: { plain_http: true }\n`],
  ['an open address where neither is on', `mcp_server: { oauth: true }\n${OPEN}`],
] as const)
  test(`accepts ${what}`, () => assert.doesNotThrow(() => load(text)));
