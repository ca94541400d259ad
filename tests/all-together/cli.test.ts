import { runTogether } from '../support/run-together.ts';

await runTogether('tests/cli/*.test.ts');
