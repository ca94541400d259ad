import { runTogether } from '../support/run-together.ts';

// Half of what the folder takes is in few of its files.
await runTogether('tests/faults/r*.test.ts');
