import { runTogether } from '../support/run-together.ts';

await runTogether('tests/hard-cases/*.test.ts');
