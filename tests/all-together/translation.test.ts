import { runTogether } from '../support/run-together.ts';

await runTogether('tests/translation/*.test.ts');
