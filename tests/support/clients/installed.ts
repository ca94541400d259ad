import { existsSync } from 'node:fs';
import path from 'node:path';

/*
 * Clients that are large or drag much along are no development dependencies of the gateway: `tests/clients/package.json`
 * pins them, and `npm ci --prefix tests/clients` installs them. Without them their tests are skipped with one loud line;
 * `REQUIRE_CLIENTS=1` makes that a failure.
 */
const FOLDER = path.join(import.meta.dirname, '../../clients/node_modules');

/** The path of a file of a client, or the reason why its tests are skipped, which is printed too. */
export type Installed = { readonly path: string; readonly skip: false } | { readonly skip: string };

/** @param file below `node_modules` @throws Error when it is missing where clients are required */
export function findClient(file: string): Installed {
  const found = path.join(FOLDER, file);
  if (existsSync(found)) return { path: found, skip: false };
  const message = `${file} is not installed: its tests do not run. npm ci --prefix tests/clients installs it.`;
  if (process.env['REQUIRE_CLIENTS'] === '1') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return { skip: message };
}
