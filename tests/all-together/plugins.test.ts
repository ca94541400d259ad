import { runTogether } from '../support/run-together.ts';

await runTogether('tests/plugins/*.test.ts');
