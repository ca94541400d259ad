import { runTogether } from '../support/run-together.ts';

await runTogether('tests/accounts/{console,people}/*.test.ts');
