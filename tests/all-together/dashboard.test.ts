import { runTogether } from '../support/run-together.ts';

await runTogether('dashboard/src/**/*.test.ts');
