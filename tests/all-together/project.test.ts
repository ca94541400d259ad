import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{architecture,docs,scripts}/*.test.ts');
