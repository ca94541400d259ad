import { runTogether } from '../support/run-together.ts';

await runTogether('tests/routers/*.test.ts');
