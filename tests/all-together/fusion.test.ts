import { runTogether } from '../support/run-together.ts';

await runTogether('tests/fusion/*.test.ts');
