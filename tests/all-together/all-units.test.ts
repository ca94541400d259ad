import { runTogether } from '../support/run-together.ts';

await runTogether('src/[!s]*/**/*.test.ts');
