import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../src/app/openapi-document.ts';

/** Refreshes docs/openapi.json; a test holds the file to the schemas. */
writeFileSync(new URL('../docs/openapi.json', import.meta.url), `${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
