import { runTogether } from '../support/run-together.ts';

await runTogether('tests/conformance/*.test.ts');
