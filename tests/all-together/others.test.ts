import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{*,{accounts,catalog,deploy,files,mcp,workers}/*}.test.ts');
