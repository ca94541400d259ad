import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{*,{accounts,audio,catalog,deploy,embeddings,files,mcp,rerank,videos}/*}.test.ts');
