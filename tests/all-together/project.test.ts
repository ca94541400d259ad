import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{architecture,docs}/*.test.ts');
