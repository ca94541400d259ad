import { runTogether } from '../support/run-together.ts';

// The store takes as long as all other folders together.
await runTogether('src/s*/**/*.test.ts');
