import { runTogether } from '../support/run-together.ts';

await runTogether('tests/accounts/{console,interns,people}/*.test.ts');
