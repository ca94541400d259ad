import { runTogether } from '../support/run-together.ts';

await runTogether('tests/responses/*.test.ts');
