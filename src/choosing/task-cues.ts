import type { TaskTag } from './task-tags.ts';

/** Where a turn of phrase counts: in the user's last words, in the instructions, or in both. */
type Place = 'wish' | 'instructions' | 'both';

/** A turn of phrase that says what is wanted, where single words would not. */
export interface TaskCue {
  readonly tag: TaskTag;
  readonly score: number;
  readonly place: Place;
  /** Repeats nothing without a bound: it runs on what callers write. */
  readonly pattern: RegExp;
}

const cue = (tag: TaskTag, score: number, place: Place, pattern: RegExp): TaskCue => ({ tag, score, place, pattern });

/** Written for this project; whoever adds one runs `npm run eval:router`. */
export const TASK_CUES: readonly TaskCue[] = [
  cue(
    'classification_tagging',
    4,
    'both',
    /\b(?:classif(?:y|ies|ier)|categori[sz]e|tag each|label each|exactly one of|one of (?:the following|these)(?: labels| categories)?:|which (?:category|class|label|intent)|(?:answer|reply|respond|output|return) (?:with )?(?:only |just )?(?:the )?(?:label|category|class)|categories:|labels:|decide whether|judge whether|just number: label)/i,
  ),
  cue('classification_tagging', 4, 'wish', /\b(?:sort|group|put|file) (?:these|them|each|the|all)[^.\n]{0,60} into:?/i),
  cue(
    'classification_tagging',
    4,
    'both',
    /klassifizier|einordn|\bclassifi(?:ca|que|ez)|\bclasific|\bkategori|属于哪|哪一?类|类别|分類して|どれに当て|분류/i,
  ),
  cue(
    'customer_support',
    4,
    'instructions',
    /\b(?:support (?:agent|assistant|bot|for|team|desk)|(?:chat|service|claims|booking) (?:agent|assistant)|customer (?:service|support|care)|help ?desk|helps? (?:our )?(?:guests|customers|members|shoppers|travell?ers|patients|passengers)|no refunds|policy:)/i,
  ),
  cue(
    'customer_support',
    5,
    'wish',
    /\b(?:reply|respond|answer|write back)[^.\n]{0,20} (?:this|a|the|our|my|an) (?:\w+ )?(?:customer|client|guest)/i,
  ),
  cue(
    'customer_support',
    2.5,
    'wish',
    /\b(?:order|booking|reservation|commande|bestellung|pedido|encomenda|ordine)(?: number| no\.?| nr\.?| id)?[ :#]{0,3}[a-z]{0,4}-?\d[\d-]{2,}/i,
  ),
  cue(
    'roleplay_fiction',
    4,
    'both',
    /\b(?:interactive (?:story|mystery|fiction|novel)|stay in character|text adventure|dungeon master|you(?:'re| are) the (?:dm|gm|game master|narrator)|answer as (?:the|a) [a-z]+|d&d|role-?play|rollenspiel)/i,
  ),
  cue(
    'roleplay_fiction',
    3.5,
    'wish',
    /\b(?:continue (?:in the same style|the (?:story|scene|chapter|tale))|(?:short|horror|bedtime|ghost) (?:story|tale)|fairy tale|cuento|kurzgeschichte|märchen|racconto|conto de|nouvelle fantastique)|小说|短篇|物語を|이야기를|рассказ/i,
  ),
  cue(
    'agent:memory_extraction',
    5,
    'both',
    /\b(?:durable|lasting|long-?term) (?:facts?|memor)|facts? (?:about|on) the user|update the [a-z ]{0,20}(?:profile|memory|user model|student model)|worth remembering|extract (?:the )?memor|what to remember/i,
  ),
  cue(
    'agent:multi_step_planning',
    4,
    'both',
    /\b(?:only the plan|planner\b|(?:create|make|write|give me|draft) (?:the|a|an) (?:[a-z-]+ )?plan\b|planungsagent|zerlege|revise the plan|remaining plan|sub-?(?:tasks|questions)|in that plan|break (?:it|this|that) (?:down|into)|do not execute|before you (?:start|touch|change))/i,
  ),
  cue('math', 4, 'wish', /\d\s?%\s*(?:of|von|de|di|от|의|的)\s*[$€£]?\d/i),
  cue(
    'math',
    3,
    'both',
    /\b(?:at the same (?:pace|rate|speed)|how many (?:days|ways|hours|minutes|digits|integers|litres|liters)|volume of|final number only|weighings?|word problem|my answer is|expected number|show that|for (?:all|every) (?:n|x|integers?))\b/i,
  ),
  cue('math', 1.5, 'wish', /\b(?:homework|hausaufgabe|devoirs|deberes)\b/i),
  cue(
    'summarization',
    4,
    'wish',
    /^\s*(?:tl;?dr|tldr|sum up|summ?ari[sz]e)|\b(?:the gist|in a nutshell|short version|boil (?:it|this) down)\b|字以内|zusammenfass|要約して/i,
  ),
  cue(
    'translation',
    4,
    'wish',
    /\b(?:translate|ingilizceye|türkçeye|almancaya|auf (?:englisch|deutsch|französisch) (?:heißt|übersetz|sagen)|(?:what does|was steht) (?:this|the|auf) (?:sign|menu|label|note|schild)|how (?:do|would) (?:you|i) say)\b/i,
  ),
  cue(
    'data:extraction',
    4,
    'both',
    /\b(?:extract|pull (?:out|all|every|the)|get (?:me )?(?:all )?(?:the )?(?:fields|dates|names|amounts|values)|list (?:all|every) (?:the )?(?:dates?|names?|amounts?|parties|people|entities|places)|unique [a-z ]{2,30} with counts|fill (?:in )?the (?:form|fields)|dame en una tabla|into the form)\b|\bzieh\b[^\n]{0,80}heraus|抽出して|提取|извлеки/i,
  ),
  cue(
    'data:transformation',
    3.5,
    'wish',
    /\b(?:convert|bring|turn|map|reshape|reformat|rewrite|normali[sz]e|split|merge) (?:this|these|the|each|all|them|diese)\b[^.\n]{0,60}\b(?:into|to|as|from|ins)\b|\bins format\b|\beine pro zeile\b|タブ区切り|統一して|形式に/i,
  ),
  cue(
    'code:general_impl',
    4,
    'wish',
    /\b(?:in|en|mit|with|auf|на|em|using) (?:python|go|golang|rust|java|javascript|typescript|c\+\+\d{0,2}|c#|kotlin|swift|php|ruby|scala|elixir|haskell|ocaml|lua|perl|zig|dart|julia)\b(?! (?:law|history))|スクリプトを(?:書|作)|프로그램|API를 만들|코드.{0,20}필요|코드를 (?:작성|만들)/i,
  ),
  cue(
    'code:review_security',
    5,
    'both',
    /\b(?:code review|picky reviewer|reviewer bot|security reviewer|tear (?:it|this|me) apart|review (?:this|my|the|these) (?:code|diff|patch|pull request|pr|change|function|class|query)|would (?:a|any) [a-z ]{0,20}reviewer say|unified diff|diesen code [a-z ]{0,20}(?:anschauen|prüfen|ansehen)|audit (?:the )?[\w/.]{0,40}(?:contract|\.sol|\.ts|\.py|\.go|\.rs|code))/i,
  ),
  cue(
    'code:debugging',
    3.5,
    'wish',
    /\b(?:works? (?:in|on|for) [a-z ]{2,30} but|(?:climbs|grows|leaks?) (?:until|about|by)|why (?:does|is|do) (?:this|my|it)[^.\n]{0,40}(?:crash|fail|throw|hang|return|null|empty)|heap snapshots?|is killed|crashes (?:for|when|with|on|at))\b/i,
  ),
  cue(
    'code:shell_execution',
    3.5,
    'both',
    /\b(?:run the (?:linter|tests?|build|formatter|migrations?)|one command at a time|control a [a-z ]{0,20}shell|remote hands|ffmpeg|powershell|cmdlet)\b|コマンドを教え|用命令行|命令行/i,
  ),
  cue(
    'code:file_read_write',
    4,
    'both',
    /\bsearch\/replace blocks?\b|\b(?:create|add|erstelle|crée|crea|ajoute|ergänze|remplace) (?:a|an|the|une?|eine?|les|die)? ?[^.\n]{0,60}(?:\bfile\b|\bfichier\b|\bdatei\b|\barchivo\b|\.(?:json|ya?ml|toml|md|rb|py|ts|js|go|rs|java)\b)|\b(?:lies|read|open) [^.\n]{0,20}\w+\/[\w/.]+ (?:und|and) /i,
  ),
  cue(
    'code:repo_scan',
    3.5,
    'both',
    /\b(?:explore sub-?agent|search (?:thoroughly|the code|everywhere) for|where (?:do|does|is|are) (?:we|it|the)[^.\n]{0,50}(?:defined|set|called|loaded|handled|used|read)|what (?:calls|uses|depends on|imports)|which (?:files|modules|packages) (?:use|call|import|touch))\b/i,
  ),
  cue(
    'code:sql_database',
    4,
    'both',
    /\b(?:schema design|ddl\b|read only\. |questions about the warehouse|look at the schema|add a column|backfill|materialized view|query plan)\b/i,
  ),
  cue(
    'code:devops_config',
    4,
    'wish',
    /\b(?:manifest|manifiesto|manifeste|helm chart|values\.ya?ml|compose file|docker-?compose\.ya?ml|rules? file|dockerfile|nginx\.conf|terraform (?:module|for)|topologyspreadconstraints|github action)\b|规则文件|配置文件|設定ファイル/i,
  ),
  cue(
    'devops',
    3.5,
    'wish',
    /\b(?:do we need|avantages|advantages|pros and cons|vorteile|trade-?offs?|how many (?:nodes|replicas|nines)|capacity plan)\b[^\n]{0,160}\b(?:kubernetes|docker|gitops|terraform|cloud|vms?|cluster|pipeline|serverless)\b|무중단 배포|롤백/i,
  ),
  cue(
    'security_audit',
    4,
    'both',
    /\b(?:soc analyst|mitre|true\/false positive|password policy|usb stick|kept as evidence|threat model|nist|chain of custody|lateral movement|powershell\.exe -|indicators? of compromise)\b/i,
  ),
  cue(
    'finance_trading',
    3.5,
    'wish',
    /\b(?:immobilienkredit|restschuld|tilgen|welt-etf|rendite[n]?|criptomoedas?|hypothek|anlegen|200[- ]day average|dividend|gamma squeeze|short squeeze|irs\b|crédit immobilier|hipoteca|against the (?:dax|s&p|index|nasdaq))|期权|散户|基金定投|株価|증권/i,
  ),
  cue(
    'image_prompting',
    5,
    'wish',
    /stable[- ]?diffusion|dall[·\-. ]?e\b|midjourney|提示词|プロンプト|negativ(?:e |er )?prompt|\b(?:image|picture|bild|art)[- ]prompt/i,
  ),
  cue(
    'content_writing',
    3.5,
    'wish',
    /\b(?:pressmeddelande|pressemitteilung|communiqué de presse|press release|newsletter|slogans?|produkttext|product description|comunicado de prensa|persbericht)\b|文案|写一条|キャッチコピー|추천사/i,
  ),
  cue(
    'research_report',
    4,
    'both',
    /\b(?:competitor analysis|market siz(?:e|ing)|investment memos?|memo on|size it|bottom-up|what is estimate and what|literature review|publicly known|for our board|whitepaper)\b/i,
  ),
  cue(
    'agent:workflow_execution',
    3,
    'both',
    /\b(?:release agent|go through the checklist|operate a web browser|complete the user's task|without stopping|runbook)\b/i,
  ),
  cue(
    'other',
    4,
    'wish',
    /^\W{0,5}(?:(?:test(?:ing)?|ping|asdf?[a-z ;]{0,12}|foo|x{2,}|qwer\w*)\W{0,5}){1,4}$|^[^\p{L}]{0,200}$|\b(?:20|twenty) questions\b|\brandom (?:numbers?|words?|letters?)\b|\b(?:in )?ascii(?: art)?\b|\b(?:reply|answer|respond) with (?:the |a )?single word\b|\bsag (?:einfach )?nur\b|\b(?:just|only) say\b|\brock[ ,]+paper\b|\btic[- ]?tac[- ]?toe\b|\bhangman\b|\bflip a coin\b|\broll (?:a|two|\d) d/iu,
  ),
  cue(
    'other',
    5,
    'wish',
    /\b(?:your|the) (?:system prompt|(?:hidden|initial|original) instructions)\b|\bignore (?:all |any )?(?:previous|prior|above) instructions\b|\brepeat (?:everything|the text|the words) above\b/i,
  ),
  cue(
    'conversational_reply',
    3,
    'wish',
    /\b(?:i (?:just )?miss|my (?:cat|dog|mom|mum|dad|grandma|grandpa) (?:died|passed)|i(?:'m| am) (?:so )?(?:sad|lonely|bored|tired|happy|nervous)|how (?:was|is) your (?:day|weekend)|du so den ganzen tag|y tú|et toi\b|was machst du|do you (?:like|ever|dream))|你喜欢|你呢|あなたは.{0,10}好き/i,
  ),
];
