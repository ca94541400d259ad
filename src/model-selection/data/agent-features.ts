import { feature, pattern, type TaskFeature } from '../classify/task-feature.ts';

const PLAN =
  '(?:plan|roadmap|schedule|itinerary|timeline|zeitplan|projektplan|stappenplan|fahrplan|reiseplan|lernplan|trainingsplan|planning|calendrier|plano|cronograma|programma|piano|harmonogram)';

export const AGENT_FEATURES: readonly TaskFeature[] = [
  feature(
    'agent:multi_step_planning',
    4,
    'both',
    /\b(?:only the plan|planner\b|remaining plan|sub-?(?:tasks|questions|goals|agents)|in that plan|(?:revise|adapt|adjust|update) (?:the|this|my|our) plan|break (?:it|this|that|the|our|my)\b[^.\n]{0,30}\b(?:down|into)|decompose|do not execute|don't (?:change|execute|touch|run|do) anything(?: yet)?|before you (?:start|touch|change|code)|think before you|first outline|outline (?:which|the) steps|what can run in parallel|propose how to (?:split|move|migrate|stage)|how would you (?:stage|split|approach|organi[sz]e)|step[- ]by[- ]step plan|with (?:milestones|dependencies|a checkpoint)|todo list first|list of (?:steps|sub-?tasks)|ordered (?:tasks|steps|list of tasks))\b/,
  ),
  feature(
    'agent:multi_step_planning',
    2,
    'user',
    /\b(?:which (?:order|steps)|in which order|what (?:to do )?first|(?:the|your|my|our|that) plan)\b/,
  ),
  feature(
    'agent:multi_step_planning',
    3.5,
    'user',
    pattern(
      `\\b(?:create|make|write|give (?:me|it|us|him|her)|draft|need|want|build|propose|erstelle|mach|brauche|entwirf|fais|etablis|propose|crea|haz|elabora|monta|faca|crie|prepara|maak|stworz|gor|hazirla) [^.\\n]{0,40}\\b${PLAN}\\b`,
      `|\\bplan (?:a|the|my|our|an|me) |^plan |\\b\\d+[- ](?:day|week|month)s? [a-z ]{0,20}(?:plan|trip|itinerary)|\\b(?:planifica|planeja|planifie|plane|zerlege|was zuerst|in welcher reihenfolge|dans quel ordre|en que orden|em que ordem)\\b|\\b${PLAN} (?:for|fur|pour|para|per|voor|to) `,
    ),
  ),
  feature(
    'agent:multi_step_planning',
    4,
    'user',
    /(?:制定|做|列|安排)[^。\n]{0,24}(?:计划|方案|步骤|日程)|分解成|拆解|计划表|(?:計画|スケジュール|手順)を(?:立|作|考)|ステップに分|(?:계획|일정)[을를]? ?(?:세워|짜|만들)|(?:составь|сделай|распиши|нужен)[^.\n]{0,30}план|разбей[^.\n]{0,40}(?:на шаги|этап|задач)|план (?:на|переезда|миграции|обучения)|ضع خطة|خطة/,
  ),
  feature(
    'agent:workflow_execution',
    3,
    'both',
    /\b(?:release agent|go through (?:the|all|every)|operate[s]? (?:a|the) (?:web )?browser|browser agent|(?:complete|do) the (?:user's )?task|without stopping|runbook|run the steps|work through|steps? in order|every (?:unpaid|open|new|overdue|row|invoice|ticket|lead|order)|for each (?:of|one|row|ticket|invoice|customer)|then (?:post|send|email|log|notify|update|create|reply|move|archive|close)|and then (?:send|post|notify|update|email|close)|when everything is done|tell me when|confirm to|(?:on|off)board|arbeite[^.\n]{0,20} ab\b|geh alle|fuhre?[^.\n]{0,40} aus\b|schritt fur schritt)\b|最後に|順番に|依次|逐个|然后(?:发|通知|更新)|по очереди|затем отправ|순서대로/,
  ),
  feature(
    'agent:memory_extraction',
    7,
    'both',
    /\b(?:(?:durable|lasting|long-?term|persistent|stable) (?:facts?|memor\w+)|facts? (?:about|on|of) (?:the|a|this) user|notes? about (?:the|this) user|update the [a-z ]{0,20}(?:profile|memory|user model|student model|customer card)|worth (?:remembering|keeping)|(?:what|which)\b[^?\n]{0,60}\b(?:should|to)\b[^?\n]{0,30}\b(?:remember|keep|store|memori[sz]e)|extract (?:the )?memor\w*|what (?:to|should be|should [a-z ]{0,30}) (?:remember|keep|store)[a-z ]{0,10}|(?:save|store|keep|put) (?:this |it |that )?(?:in|to) (?:your |long-term )?memory|remember (?:that|this|the following)|memory (?:manager|module|block|entry|entries|store|agent|extractor)|user(?:'s)? preferences|later conversations|future (?:conversations|sessions)|future chats|stay true)\b|\bmerk(?:e)? dir\b|\bretiens (?:que|bien)|\bsouviens-toi|\brecuerda que|\blembra-?te|\bguarda (?:que|en)|\bricorda(?:ti)? che|记住|记下|覚えて(?:おいて|ください)|기억해|запомни/,
  ),
  feature(
    'agent:memory_extraction',
    4,
    'user',
    /\bfrom now on\b|\bwhat do you (?:know|remember) about\b|\bdo you remember\b|\bforget (?:what|that|everything|about|my)\b|\bwas weißt du (?:uber|von) mi[rc]|\bque (?:sais-tu|sabes) (?:de|sur) m[io]/,
  ),
  feature(
    'agent:web_search',
    4,
    'both',
    /\b(?:search (?:online|the web|the internet|for (?:recent|current|the latest))|look (?:up|online)|google (?:it|mal|for)|^google |find (?:online|on the web|recent|the latest|current)|(?:latest|current|newest|recent) (?:version|news|articles?|release|papers?|price|status)|in the news|on the (?:web|internet)|link (?:them|me|it)|with links|deep search|right now|as of today|this (?:week|month|year|weekend)|yesterday|still open|open today|opening (?:hours|times)|who won)\b/,
  ),
  feature(
    'agent:web_search',
    4.5,
    'user',
    /\b(?:im (?:internet|netz)|such(?:e)? (?:mal|im|nach|online)|google mal|recherchier\w*|sur (?:internet|le web)|cherche[rz]? (?:sur|en ligne|les|des)|busca(?:r|me)? (?:en|noticias|en linea|informacion)|en internet|pesquis[ae]r?|na internet|cerca (?:su|online|in rete)|su internet|zoek (?:op|online|naar)|wyszukaj|sok (?:pa|efter)|arastir|internette|ob [^.\n]{0,40} heute)\b|搜索|搜一下|查一下|最新(?:的)?(?:新闻|消息|论文|版本|价格|动态)|検索して|調べて|最新(?:の)?(?:ニュース|情報|論文)|검색해|찾아 ?(?:줘|주세요)|최신|найди в (?:интернете|сети)|поищи|последние новости|загугли|ابحث|खोज/,
  ),
  feature(
    'agent:tool_dispatch',
    2.5,
    'both',
    /\b(?:(?:set|start) (?:a|an|the) (?:timer|alarm|reminder)|remind me|turn (?:on|off|up|down)|(?:mach|schalte?) [^.\n]{0,40} (?:an|aus)\b|call the right (?:one|function)|use the tools|you have functions|put on (?:some|something)|play (?:some|my|the)|(?:move|cancel|add) my \w+|what(?:'s| is) on my calendar|(?:text|call|message) [a-z]+ (?:that|and)|rain (?:in|tomorrow|today)|weather)\b|アラーム|タイマー|リマインド|招待|打开|关掉|设(?:置|个)(?:闹钟|提醒)|напомни|включи|выключи|поставь (?:таймер|будильник)|알람|켜 ?줘|꺼 ?줘/,
  ),
  feature(
    'agent:multi_step_planning',
    4,
    'user',
    /\b(?:in what (?:order|sequence)|what needs to happen|what depends on what|(?:fases|etapas|phases|phasen|etappen), |write only the steps|(?:organi[sz]e|organizar|organiser|organisieren|organizzare) (?:the|our|my|la|el|le|les|den|die|unseren?|notre|nuestr[oa]|a|o|il) )/,
  ),
  feature(
    'agent:web_search',
    2.5,
    'user',
    /\b(?:actual(?:es|mente)?|aktuell\w*|actuel\w*|attual\w*|atua(?:l|is)|aktualn\w*|guncel|buscalo|current(?:ly)?|tonight|these days|at the moment|look for|job openings|mit quelle)\b/,
  ),
  feature(
    'agent:tool_dispatch',
    5,
    'both',
    /\b(?:exactly one|the right|select (?:a|one|the)|call (?:a|one|the)) (?:function|tool)\b/,
  ),
  feature(
    'agent:multi_step_planning',
    4,
    'user',
    /\b(?:wie gehen wir|vorgehen(?:sweise)?|meilenstein\w*|milestones|jalons|hitos|comment proceder|como proced\w+|come procedere|list the risks of each step|subtasks)\b/,
  ),
  feature(
    'agent:web_search',
    4,
    'user',
    /\bany news\b|\b(?:a que hora|wann|when|quand)\b[^?\n]{0,30}\b(?:hoy|heute|today|tonight|aujourd'hui)\b/,
  ),
];
