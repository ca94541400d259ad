import { CHANGE, feature, MAKE, pattern, type TaskFeature } from '../classify/task-feature.ts';

const LANGUAGE = String.raw`(?:python|golang|rust|java|javascript|typescript|c\+\+|c#|f#|kotlin|swift|php|ruby|scala|elixir|haskell|ocaml|lua|perl|zig|dart|julia|clojure|erlang|matlab|vba|ada|cobol|fortran|pascal|assembly|solidity|node(?:\.?js)?|django|flask|fastapi|spring|laravel|rails|\.net)`;
const CODE_THING =
  '(?:functions?|funktion|fonction|funcion|funcao|funzione|functie|funkcj[ea]|fonksiyon\\w*|class|classe|klasse|clase|klase|methode?|metodo|scripts?|skript|programm?[ae]?|api|endpoint|parser|lexer|iterator|generator|decorator|macro|bot|(?:http |tcp |web |websocket )?server|serveur|servidor|algorithm|algorithmus|unit[- ]tests?|regex|cli|command-line tool|crawler|scraper|interpreter|compiler|middleware|wrapper|struct|enum|interface|hook|benchmark)';
/** A visible part of a page. */
const UI_THING =
  '(?:buttons?|navbar|menu|modal|dialog|tooltip|dropdown|card|carousel|slider|gallery|landing page|login page|web ?site|web ?page|page layout|header|footer|sidebar|form|input field|pricing table|hero|dashboard|toast|accordion|tabs?|kanban board|date picker|toggle|bouton|boton|botao|pulsante|schaltflache|knop|przycisk)';
const UI_WORD =
  '(?:css|html|tailwind|react|vue|svelte|angular|bootstrap|flexbox|grid|responsive|hover|dark mode|animation|animated?|accessible|sticky|mobile|z-index|shadcn|jsx|scss)';
const CONFIG_THING = String.raw`(?:dockerfile|docker[- ]?compose\.ya?ml|compose file|helm chart|values\.ya?ml|kubernetes (?:manifest|yaml|deployment|service|cronjob|ingress)|manifest(?:s|o|e)?|manifiesto|caddyfile|apache config|ansible[- ]playbook|playbook|terraform (?:for|module|file|code|that)|github actions?|gitlab[- ]?ci|\.gitlab-ci\.yml|ci (?:pipeline|workflow|config|job)|jenkinsfile|circleci|argo ?cd|kustomize|systemd[- ](?:unit|service|timer)|prometheus (?:rules?|config|alert)|alert(?:ing)? rules?|alertmanager|logrotate|makefile|(?:vite|webpack|nginx|haproxy|eslint|traefik|envoy) config|tsconfig|renovate|dependabot|devcontainer|configmap|network ?policy|rbac|ingress|sidecar|readiness probe|liveness probe|resource limits|\.tf)`;
/** Products that are configured, and spoken of: what is wanted of them must be said besides. */
const OPS_PRODUCT =
  '(?:nginx|haproxy|traefik|caddy|envoy|terraform|ansible|pulumi|cloudformation|k8s|kubernetes|helm|docker[- ]?compose|docker|jenkins|prometheus|packer|vagrant)';

export const CODE_FEATURES: readonly TaskFeature[] = [
  feature('code:general_impl', 4.5, 'user', pattern('\\b', MAKE, '\\b[^.\\n]{0,70}?\\b', CODE_THING, '\\b')),
  feature(
    'code:general_impl',
    3.5,
    'user',
    pattern('\\b(?:in|en|mit|with|auf|em|using|w|met|pa) (?:go\\b(?! to)|c\\b|r\\b|', LANGUAGE, '(?!\\w))'),
  ),
  feature('code:general_impl', 3, 'user', pattern('\\b', LANGUAGE, '[: ][^.\\n]{0,40}\\b', CODE_THING, '\\b')),
  feature(
    'code:general_impl',
    3.5,
    'both',
    /\b(?:implement|refactor)(?:iere|er|a|e)?\b|\b(?:port|rewrite) (?:this|it|the|my) (?:code|function|class|script|to)\b|\b(?:type|unit|property) tests?\b|\bcoding assistant\b|\bmake (?:this|it) (?:async|generic|thread-?safe|iterative|recursive|faster)|\b(?:lexer|evaluator)\b/,
  ),
  feature(
    'code:general_impl',
    4,
    'user',
    /(?:写|编写|實作|实现|做)[^。\n]{0,20}(?:函数|类|程序|脚本|代码|接口|算法|爬虫|限流|服务)|用 ?(?:python|go|java|c\+\+|rust|js|php)[^。\n]{0,6}写|(?:関数|クラス|スクリプト|プログラム|コード|ツール|bot)を[^。\n]{0,12}(?:書|作|実装)|(?:함수|클래스|코드|프로그램|스크립트|api|봇)[^.\n]{0,12}(?:작성|만들|구현|필요|짜)|(?:напиш|реализу|нужен|нужна|созда)[^.\n]{0,40}(?:функци|класс|скрипт|программ|бот|код|парсер|сервис)|на (?:питоне|python|java|go|c#|c\+\+)/,
  ),
  feature(
    'code:debugging',
    3.5,
    'both',
    /\b(?:works? (?:in|on|for|fine) [a-z ,]{2,40} but|(?:climbs|grows|leaks?) (?:until|about|by)|is (?:oom)?killed|crash(?:es|ed|ing)?\b|not working|(?:does|do|did)(?:n't| not) (?:work|compile|start|run|build|load|fire|update)|won't (?:compile|start|build|load|run)|keeps? (?:failing|crashing|throwing|returning|disconnecting)|fails? (?:with|since|on|when|as soon as|only)|race condition|flaky|what(?:'s| is) wrong (?:with|on|here|in)|what am i (?:missing|doing wrong)|find the (?:bug|race|leak|cause|error)|failing (?:tests?|builds?)|bug fixer|ci (?:is|went) red|returns? (?:a )?(?:[45]\d\d|null|none|undefined|nan)\b|stack ?trace|log ?cat|heap snapshots?)/,
  ),
  feature(
    'code:debugging',
    3.5,
    'user',
    /\bwhy (?:does|is|do|are|did)[^?\n]{0,60}\b(?:crash|fail|throw|hang|print|return|null|empty|undefined|running twice|called twice|re-?render|instead of|not)\b|\b(?:funktioniert|lauft|startet|kompiliert|klappt)\b[^.\n]{0,30}\bnicht\b|\bwirft\b|\bsturzt\b|\bfehlermeldung|\bne (?:marche|fonctionne|compile|demarre)|n'arrete jamais|s'arrete jamais|\bplante\b|\b(?:no|nao|non) (?:funciona|compila|arranca|funziona|parte)|\bse (?:cierra|cae|cuelga)\b|\bda erro\b|\bnie dziala|\bcalismiyor|报错|出错|崩溃|为什么(?:会|不)|调试|エラー|例外|exceptionが|動かない|落ちる|動作しない|오류|에러|안 (?:돼|되|됩)|ошибк|не работает|падает|не компилир|не запуска|при запуске/,
  ),
  feature(
    'code:debugging',
    3.5,
    'user',
    /\b(?:run-?time|compile|syntax|type|build|fatal|unexpected|hydration|linker|import|segmentation) (?:error|fault)\b|\berror (?:code )?\d+|\berr!|\berror\[|\berror (?:on|in|at) (?:this )?line|\bsegfault|\bsince (?:i|we|the|yesterday)[^.\n]{0,30}(?:moved|upgrad\w*|switch\w*|updat\w*|deploy\w*|merg\w*)|\bseit dem (?:update|upgrade)|\bdepuis (?:la mise|que)|\bis this the (?:culprit|cause)|\bwhat am i (?:missing|doing wrong)/,
  ),
  feature(
    'code:review_security',
    5,
    'both',
    /\b(?:code[- ]?review|(?:picky|security|senior|code) reviewer|reviewer bot|tear (?:it|this|me) apart|review (?:this|my|the|these|that) (?:\w+ )?(?:code|diff|patch|pull request|pr|mr|change|changes|function|class|query|snippet|commit|branch|script|implementation)|(?:reviewer|you) (?:say about|object to)|unified diff|before (?:i|we) merge|must change before merge|(?:audit|review) (?:the )?[\w/.]{0,40}(?:contract|\.sol|\.ts|\.py|\.go|\.rs|\.js|code)|pull request|vulnerabilit(?:y|ies) in (?:this|my|the)|any (?:vulnerability|security (?:issue|hole|problem))|is this (?:code|function|query|safe|secure)|feedback on (?:this|my) (?:code|class|function|pr|implementation)|for (?:reentrancy|sql injection|xss|csrf|ssrf|path traversal)|changes on this branch)/,
  ),
  feature(
    'code:review_security',
    5,
    'user',
    /\b(?:diese[nrs]?|meine?n?|den) (?:code|funktion|klasse|diff|pull request)\b[^.\n]{0,40}\b(?:an(?:schauen|sehen)|pruf\w*|bewerte\w*|kritisch)|\b(?:revisa|revise|revisar|relis|relire|relisez|recensisci|beoordeel|controlla|sprawdz) (?:\w+ ){0,2}(?:codigo|code|codice|kod|diff|pr)\b|(?:代码|コード|код|코드)[^。.\n]{0,12}(?:审查|评审|レビュー|ревью|리뷰|검토)|(?:审查|评审|検토|レビュー)[^。\n]{0,10}(?:代码|コード)|ревью/,
  ),
  feature(
    'code:shell_execution',
    4,
    'both',
    /\b(?:one command at a time|(?:control|run commands on|have) a [a-z ]{0,20}(?:shell|terminal)|through the tool|ffmpeg|imagemagick|powershell|cmdlet|bash|zsh|one-?liner|shell (?:command|script)|(?:linux|unix|macos|mac|windows|terminal|git|find|awk|sed|grep|rsync|curl|tar|ssh|docker) command|command (?:line|to)|crontab|cron job|systemctl|kill (?:it|the process)|listening on port|(?:on|in) (?:this|the|my) (?:box|server|machine|nas|vm|host)\b|apt(?:-get)? (?:repo|install)|git (?:rebase|bisect|stash|cherry-?pick|reset))/,
  ),
  feature(
    'code:shell_execution',
    4,
    'user',
    /\b(?:run|start|restart|stop|execute|launch) (?:the|all|my) (?:\w+ ){0,2}(?:linter|tests?|build|formatter|migrations?|server|suite|service|container|script|benchmarks?)\b|\bfind all (?:files|folders|directories)\b[^.\n]{0,60}\b(?:larger|older|bigger|modified|than|size)|\b(?:befehl|kommandozeile|einzeiler|ligne de commande|commande (?:shell|linux|bash)|linea de comandos|linha de comando|riga di comando|opdrachtregel)\b|コマンド(?:を|で)|シェル|ターミナル|命令行|终端|命令是|명령어|터미널|терминал|команд[ау] (?:linux|bash|для)|в консоли/,
  ),
  feature(
    'code:file_read_write',
    4,
    'both',
    pattern(
      '\\b',
      `(?:${CHANGE}|${MAKE})`,
      String.raw`\b[^\n]{0,80}(?:\bfiles?\b|\bfichiers?\b|\bdatei(?:en)?\b|\barchivos?\b|\barquivos?\b|\bbestand\b|[\w/]\.(?:json|ya?ml|toml|md|rb|py|tsx?|jsx?|go|rs|java|txt|ini|cfg|env|css|html|php|c|cpp|h)\b|\.env\b|\bchangelog\b|\breadme\b)`,
    ),
  ),
  feature(
    'code:repo_scan',
    4.5,
    'both',
    /\b(?:explore (?:sub-?agent|codebases?)|search (?:thoroughly|the code|everywhere) for|where (?:do|does|is|are|did) [^?\n]{0,60}\b(?:defined|set|called|loaded|handled|used|read|configured|implemented|stored|registered|codebase|repo)|what (?:calls|uses|depends on(?! what)|imports)|who (?:calls|uses|imports)|which (?:files?|modules?|packages?|tests?|services?|directories|folders)\b|\bfinden?\b[^.\n]{0,40}\bcode\b|\bcode\b[^\n]{0,40}\bfinden\b|(?:code ?base|repository|repo|monorepo|file tree|project (?:structure|layout))\b|entry points?|call (?:graph|chain)|is there (?:already )?(?:a|any) (?:helper|function|util|place|class)|overview of (?:this|the)|dead code|still used|walk me through (?:the|this))/,
  ),
  feature(
    'code:repo_scan',
    4.5,
    'user',
    /\buberblick uber (?:das|dieses) (?:projekt|repo)|\bwo (?:wird|werden|ist|im code)\b[^?\n]{0,60}\b(?:definiert|aufgerufen|gesetzt|verwendet|projekt|code|repo)|\b(?:organise|structure|architecture)[^.\n]{0,12} (?:ce|du|le) (?:projet|depot)|\bce projet\b|\bdans quel(?:s)? fichiers?|\b(?:este|el|del|no|neste) (?:proyecto|repositorio|projeto)\b|\ben que archivos?|(?:仓库|项目|代码库)[^。\n]{0,20}(?:哪|结构|概览)|哪些(?:文件|地方|模块)|(?:リポジトリ|プロジェクト|コードベース)[^。\n]{0,20}(?:構成|どこ|構造|概要)|(?:저장소|프로젝트)[^.\n]{0,20}(?:구조|어디)|(?:репозитори|проект)[^.\n]{0,30}(?:где|структур)|в каких файлах/,
  ),
  feature(
    'code:sql_database',
    4,
    'both',
    /\bsql\b|\b(?:schema design|ddl\b|questions about the warehouse|(?:db|database|table) schema|look at the schema|add a column|backfill|materialized view|query plan|(?:left|inner|outer) join|group by|window function|foreign keys?|(?:design|model) the (?:tables|schema|database))|\b(?:abfrage|requete (?:sql|lente)|consulta sql|query sql|zapytanie|tabelas?|tablas?)\b|查询语句|查询.{0,8}(?:表|记录)|クエリ|テーブル設計|쿼리|напиши запрос/,
  ),
  // Databases are parts of many a stack: their names alone say little.
  feature(
    'code:sql_database',
    2.5,
    'both',
    /\b(?:postgres(?:ql)?|mysql|mariadb|sqlite|mongodb|bigquery|snowflake|clickhouse|duckdb)\b|数据库|データベース|데이터베이스|баз[аеуы] данных/,
  ),
  feature(
    'code:sql_database',
    2.5,
    'user',
    /\b(?:top \d+|last row|first row|duplicates?|per (?:category|customer|month|user|day|department))\b[^.\n]{0,80}\b(?:per|of each|by|group|in)\b[^.\n]{0,40}\b(?:category|group|revenue|customer|table|mysql|postgres)\b|\btabelle \w+ ?\(/,
  ),
  feature(
    'code:frontend_ui',
    4,
    'both',
    pattern(
      `\\b${UI_THING}\\b[^\\n]{0,100}\\b${UI_WORD}\\b|\\b${UI_WORD}\\b[^\\n]{0,100}\\b${UI_THING}\\b|\\b(?:you )?(?:generate|write|build) (?:the )?ui\\b|\\b(?:make|center|align|style) (?:the|this|my) (?:button|text|page|div|form|menu|card|header|image)\\b|\\b(?:react|vue(?: 3)?|svelte|angular) component|\\b(?:one|single)[a-z -]{0,20} html file\\b|前端|登录页|登陆页|网页|ウェブページ|レイアウト|コンポーネント|웹페이지|컴포넌트|верстк|вёрстк`,
    ),
  ),
  feature('code:devops_config', 4.5, 'both', pattern(`\\b${CONFIG_THING}\\b`)),
  feature(
    'code:devops_config',
    4,
    'both',
    /\b(?:valid )?(?:yaml|hcl) only\b|\.(?:tf|ya?ml)\b|配置文件|规则文件|告警规则|設定ファイル|설정 파일|конфиг|манифест|\bkonfigurationsdatei|\bfichier de configuration|\barchivo de configuracion/,
  ),
  feature('code:general_impl', 2.5, 'user', pattern('\\b', LANGUAGE, '(?!\\w)')),
  // Problems, described without a word for errors.
  feature(
    'code:debugging',
    2.5,
    'user',
    /\b[a-z]{3,}(?:error|exception)\b|\b(?:hangs?|stuck|times? out|timed out)\b|\bdid not exit|\bbut (?:should|it|i get|only|gives|returns|prints|matches)\b|\binstead of\b|\bworks (?:at|in|on|with|when)\b|\b(?:build|pipeline|ci|tests?) (?:is|are|went|goes|turns?) red\b|\bafter (?:upgrading|updating|switching|moving)\b|\bprints nothing\b/,
  ),
  feature(
    'code:review_security',
    7,
    'user',
    /\bis it (?:dangerous|safe|secure|insecure)\b[^\n]{0,60}\b(?:html|query|sql|eval|input|code|token|password|like this)\b|(?:\b(?:this|my|the|dieser|diesen|diesem|ce|este|esse|questo) (?:code|codigo|codice|snippet|function|diff|change)\b|этом коде|этот код|这段代码|このコード|이 코드)[^\n]{0,100}(?:safe|secur|sicher|segur|sicur|безопас|安全|セキュ|보안|style|stil|readab|quality|lesbar|improve|verbesser|amelior|mejor|melhor)|(?:secur|sicher|segur|безопас|安全|style|стил)[^\n]{0,60}(?:\b(?:this|my|dieser|diesem|ce|este|esse|questo) (?:code|codigo|codice)\b|этом коде)|\b(?:would|can|should) (?:you|i|we) (?:approve|merge) (?:this|it)\b|\bsecurity problems? (?:by|in)\b/,
  ),
  feature(
    'code:shell_execution',
    3,
    'user',
    /\btar\.gz\b|^git: |\bgit\b[^.\n]{0,30}\b(?:undo|commit|branch(?:es)?|tag|remote|squash|amend|checkout)\b|\b(?:undo|squash|amend|revert)\b[^.\n]{0,20}\bcommits?\b|\bprocess(?:es)? (?:use|using|eat)|\bssh access\b|\bsymlinks?\b|\b(?:un)?zip\b[^.\n]{0,30}\b(?:folder|files|dossier|ordner)\b/,
  ),
  feature(
    'code:sql_database',
    3.5,
    'user',
    /\btables?:? ?\w+ ?\((?:\w+, ?)+\w+\)|\b(?:decimal|varchar|timestamptz|jsonb|bigint)\b|\b(?:vue|view|vista|sicht)\b[^.\n]{0,80}\b(?:mysql|postgres\w*|sql|mariadb)\b/,
  ),
  feature(
    'code:frontend_ui',
    3,
    'user',
    /\b(?:widget|glassmorphism|animated icons|parallax|side by side|next to each other|on (?:ipad|iphone|mobile|safari|small screens)|here is the css|barra de navegacion|animacion|html (?:y|e|und|et|and) css)\b/,
  ),
  feature('code:file_read_write', 9, 'both', /\bsearch\/replace\b/),
  feature(
    'code:devops_config',
    4.5,
    'user',
    pattern(
      `^\\W*${OPS_PRODUCT}\\b ?[:,]|\\b[a-z]*(?:autoscaler|daemonset|statefulset)\\b|\\b${MAKE}\\b[^.\\n]{0,40}\\b${OPS_PRODUCT}\\b|\\b${OPS_PRODUCT}[^.?\\n]{0,20}\\b(?:for|that|which|mit|fur|pour|para|con|file|config\\w*)\\b`,
    ),
  ),
  feature(
    'code:sql_database',
    4,
    'user',
    /\bmigration\b[^\n]{0,80}\b(?:columns?|rows|tables?|\w+\.\w+)\b|\b(?:million|billion|[mk]) rows\b/,
  ),
  feature(
    'code:debugging',
    3,
    'user',
    /\boff by one\b|\b(?:aber|but|mais|pero|ma|mas|maar)\b[^.\n]{0,40}\b(?:bekomme|get|obtiens|sale|ricevo|recebo|krijg|immer|always|still|toujours|siempre)\b|\bdoes nothing\b|\bblank (?:page|screen|pages)\b|\buncaught\b|\bbut [^.\n]{0,30} is (?:clearly|there|defined|set)\b/,
  ),
  feature(
    'code:shell_execution',
    3.5,
    'user',
    /\bwhich commit\b|\bpermissions\b[^\n]{0,60}\b(?:755|644|files|directories|folders)\b|\b(?:daemon|service) (?:is )?running\b/,
  ),
];
