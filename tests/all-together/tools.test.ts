import { runTogether } from '../support/run-together.ts';

await runTogether('tests/tools/*.test.ts');
