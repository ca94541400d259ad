import { feature, MAKE, pattern, type TaskFeature } from '../classify/task-feature.ts';

/** What people let others write. */
const TEXT_THING =
  '(?:blog ?(?:post|article)?|article|essay|post|newsletter|press release|product (?:description|text)|cover letter|letter|e-?mail|mail|message|note|terms|guidelines|house rules|code of conduct|faq|leaflet|brochure|speech|toast|eulogy|poem|haiku|limerick|song|lyrics|slogans?|taglines?|headlines?|captions?|subject lines|tweet|thread|ad(?:vert)?(?:isement)?|copy|flyer|invitation|announcement|bio|job (?:ad|posting|description)|listing|recommendation|thank[- ]you (?:note|card)|greeting|statement|artikel|blogbeitrag|brief|gedicht|rede|absage|einladung|anzeige|werbetext|produkttext|pressemitteilung|anschreiben|karte|courriel|lettre|discours|poeme|annonce|communique|correo|carta|poema|discurso|anuncio|comunicado|texto|articulo|redaccion|comunicato|annuncio|lettera|discorso|testo|poesia|articolo|tekst|wiersz|ogloszenie|artykul|vacature|uitnodiging|mektup|siir|ilan|metin|brev|dikt|pressmeddelande|annons|inbjudan)';
/** What texts are made up of that callers have read out of them. */
const FACTS =
  '(?:names?|dates?|amounts?|addresses|parties|people|persons?|entities|places|locations|companies|organi[sz]ations|fields?|values?|numbers|ibans?|holders?|owners?|authors?|titles?|e-?mails?|phone|prices?|totals?|tax|ingredients|dosages?|medications?|deadlines|skills|keywords|quotes|references|citations|figures|items|products|requirements|obligations|user agents|ids?|urls?|links|skus?|contacts?)';
const LABELS = String.raw`(?:labels?|categor(?:y|ies)|class(?:es)?|intents?|topics?|tags?|genres?|departments?|sentiment|severity|urgency|priority|toxic(?:ity)?|spam|language of)`;
const FORMAT =
  '(?:json|csv|tsv|yaml|xml|markdown|html|latex|toml|sql|table|spreadsheet|iso(?: 8601)?|e\\.164|snake[_ ]case|camel ?case|title case|upper ?case|lower ?case|columns?|rows?|array|bullet(?:s| list)|decision table|key-value|unix timestamps?|tabelle|tableau|tabla|tabela|tabella|liste|format|shape|structure|layout|schema)';

export const TEXT_FEATURES: readonly TaskFeature[] = [
  feature(
    'classification_tagging',
    5,
    'both',
    /\b(?:classif(?:y|ies|ier|ication)|categori[sz]e|(?:exactly )?one (?:of|label|category|word|team|department|queue|topic):|exactly one (?:of|label|category|word|team|department|queue|topic)|one of (?:the following|these)(?: labels| categories)?:|(?:which|what) (?:category|class|label|intent|department|team|genre)|(?:answer|reply|respond|output|return)s? (?:with )?(?:only |just |exactly )?(?:the |one )?(?:label|category|class|intent|department|number of the)|(?:labels|categories|intents|classes|departments|topics|queues|tags)(?: are)?: ?|decide (?:whether|if|which)|judge whether|is (?:this|it)[^?\n]{0,40}\b(?:spam|toxic|sarcastic|positive or|fact or|formal or|ham)\b|spam or|positi(?:ve|v|f|vo|va)(?: (?:or|oder|ou|o)|,) (?:negati|neutral)|fact or opinion|(?:reply|answer|respond|output)(?: with)?(?: only)? (?:yes or no|yes\/no|true or false)|(?:intent|message|ticket|email) (?:router|classifier)|you route (?:the )?(?:messages|tickets|mails|requests)|moderat(?:e|or|ion))\b|\bintents?:/,
  ),
  feature(
    'classification_tagging',
    4.5,
    'user',
    pattern(
      `\\b(?:label|tag|rate|score|assign|mark|bucket|annotate|detect|grade) (?:each|every|these|the|all|it|them|a|this)\\b[^\\n]{0,80}\\b(?:${LABELS}|low|fact|as|positive|opinion|from|into|iso code)\\b|\\b(?:sort|group|put|file|route) (?:these|them|each|the|all|every)[^.\\n]{0,60} (?:into|to one of|in):?|\\bwhich of these ${LABELS}|\\b${LABELS} of (?:each|this|these|the following)`,
    ),
  ),
  feature(
    'classification_tagging',
    4.5,
    'both',
    /\bklassifizier|\beinordn|\bordne\b[^\n]{0,60}\b(?:zu|ein|einer)\b|\bclassifi(?:ca|que|ez|er)|\bclasse[rz]? (?:ces|chaque|les|ce)|\bclasific|\bkategori|\betiquet|\b(?:genau|nur) eine[rm]?\b[^\n]{0,20}\b(?:kategorie|abteilung|label)|\bassocie|\bclassificeer|\bsklasyfikuj|属于哪|哪一?类|类别|打上?标签|分类(?:为|成|到)?|分類して|どれに当て|どの(?:カテゴリ|部署)|분류해|классифиц|к какой категории|определи (?:тональность|категорию|язык)|صنف/,
  ),
  feature(
    'data:extraction',
    4.5,
    'both',
    pattern(
      `\\b(?:extract|pull|get|read out|pick out|list|collect|find|give me|return|copy|name|identify)\\b(?: (?:me|us|out|all|every|each|the|of|any|unique|only|requested|a|list)){0,4}[^.\\n:]{0,30}?\\b${FACTS}\\b[^\\n]{0,60}\\b(?:from|in|out of|mentioned|into|below|as json|columns|counts|with|of)\\b|\\bextract(?:s|or|ion)?\\b|\\bpull (?:out|all|every)\\b|\\bfill (?:in )?the (?:form|fields|template)\\b|\\b(?:what|which|who) (?:are|is)? ?(?:the )?${FACTS}[^?\\n]{0,60}\\b(?:in this|in the|mentioned|below|are in)\\b|\\bgive me (?:the )?${FACTS}, `,
    ),
  ),
  // Fields in a row, out of something that was handed over.
  feature(
    'data:extraction',
    2,
    'user',
    /\b(?:from|out of|in|del?|du|aus|dal|uit) (?:this|the|diese[mrn]?|dem|siguiente|este|ce|cette|questo|deze|het)\b[^\n]{0,80}[:(]\s*(?:[\p{L} /-]{2,30}, ){2,}/u,
  ),
  feature(
    'data:extraction',
    4.5,
    'user',
    /\b(?:extrahier|extrais|extrae|extraiga|extraia|estrai|wyodrebnij|wyciagnij|haal\b[^\n]{0,60}\buit)|\bzieh\b[^\n]{0,80}heraus|\bli(?:ste|st)\b[^\n]{0,20}\balle\b|\bliste (?:tous|toutes|moi)|\b(?:dame|saca|lista|indica)(?:me)? (?:en una tabla|todos|todas|los|las)\b|\b(?:del|de este|deste|do seguinte|du|dans ce) (?:siguiente |suivant )?(?:contrato|texto|contrat|texte|documento|compte rendu)|提取|抽取|找出(?:所有|文中)|列出(?:所有|文中)|抽出して|抜き出して|取り出して|추출|뽑아|извлеки|выпиши|выдели|استخرج|निकाल/,
  ),
  feature(
    'data:transformation',
    4,
    'both',
    pattern(
      `\\b(?:convert|bring|turn|map|reshape|reformat|rewrite|transform|normali[sz]e|split|merge|change|parse|make|format|put|export) (?:this|these|the|each|all|them|it|diese|input|my|every)\\b[^.\\n]{0,60}\\b(?:into|to|as|from|ins|a|so)?\\b[^.\\n]{0,20}\\b${FORMAT}\\b|\\b${FORMAT} to ${FORMAT}\\b`,
    ),
  ),
  feature(
    'data:transformation',
    4,
    'user',
    /\b(?:anonymi[sz]e|redact|pseudonymi[sz]e|mask|pivot|transpose|dedup\w*|remove (?:the )?duplicates|sort (?:alphabetically|these|this|by)|alphabeti[sz]e|one per line|bucket|keep the rest|keep everything else|replace every|flatten|unflatten|merge these|swap the|into ?a (?:markdown |html )?table|target shape|same order)\b/,
  ),
  feature(
    'data:transformation',
    4,
    'user',
    /\b(?:wand(?:e?le|el)|konvertier\w*|formatier\w*|forme)\b|\bbring\b[^\n]{0,60}\bformat\b|\beine pro zeile\b|\bmach aus (?:dieser|diesen|diesem)|\b(?:convertis|transforme|convierte|transforma|converta|converti|trasforma|przekonwertuj|zamien|zet|donustur|omvandla|konvertera)\b|\bordena(?:r)? (?:esta|por|alfab)|\btrie[rz]? (?:cette|ces|par)|\bsortiere?\b|转换|转成|改成|变成|整理成|按[^。\n]{0,12}排序|変換|区切り|統一して|形式に|に直して|並べ替え|表にして|변환|바꿔|정렬|преобразу|конверт|отсортируй|переведи в (?:json|csv|таблицу)|حوّل|حول إلى|बदल/,
  ),
  feature(
    'content_writing',
    3.5,
    'user',
    pattern(
      `\\b${MAKE}\\b[^.\\n]{0,70}?\\b${TEXT_THING}\\b|^(?:\\d+ |a |an |short |funny )*(?:[a-z-]+ ){0,3}${TEXT_THING} (?:for|about|for|fur|pour|para|on|to|announcing)\\b|^(?:an?|one|my) (?:[a-z-]+ ){0,4}${TEXT_THING}\\b`,
    ),
  ),
  feature(
    'content_writing',
    3.5,
    'both',
    /\b(?:(?:make|sound)s? (?:this |it |them )?(?:sound )?(?:more |less )?(?:professional|formal|friendly|friendlier|polite|natural|engaging|concise)|rephrase|reword|proofread|polish|paraphrase|(?:opening|first) \d+ words|in \d+ words|\d+ words|warm but|tone[: ]|catchy|copywriter|brand voice|hook in|formulier\w*|umformulier\w*|reformule\w*|corrige)\b|\b(?:youtube|video|podcast) (?:script|intro)|文案|写一(?:篇|封|条|段|首)|润色|改写|広告文|キャッチコピー|(?:記事|メール|手紙|文章|挨拶文|紹介文)を(?:書|作)|(?:글|이메일|편지|기사|추천사|소개글)[을를]? ?(?:써|작성)|напиши (?:статью|письмо|пост|текст|стих|поздрав|объявлен)|придумай (?:слоган|назван|текст)|اكتب (?:مقال|رسالة|إعلان)/,
  ),
  feature(
    'summarization',
    4.5,
    'both',
    /(?:^|\b)(?:tl;?dr|sum (?:up|this|it)|summ?ari[sz](?:e|es|er|ing)|summary of|the gist|in a nutshell|short version|boil (?:it|this) down|catch me up|main (?:points|message)|key (?:points|takeaways)|meeting minutes|into minutes|(?:one|two|three|five|\d+)[- ](?:sentence|bullet|line)s? (?:summary|recap)|(?:in|to|as) (?:one|two|three|four|five|\d) (?:short )?(?:bullets?|sentences?|lines?|points))\b/,
  ),
  feature(
    'summarization',
    4.5,
    'user',
    /\b(?:zusammenfass\w*|fass(?:e)?\b[^.\n]{0,60}\bzusammen|kurzfassung|resume[rz]?\b|synthese|en (?:deux|trois|quelques) (?:phrases|points)|resumen|resumir|resum[ae]|resumo|riassum\w*|in sintesi|sintetizza|podsumuj|streszcz\w*|stresc|samenvat\w*|vat\b[^.\n]{0,40}\bsamen|sammanfatta|ozetle\w*|ozet)\b|字以内|总结|概括|摘要|要点|要約|まとめて|三行で|요약|정리해|кратко|резюмируй|перескажи|суть|لخص|सारांश/,
  ),
  feature(
    'translation',
    4.5,
    'both',
    /\b(?:translat(?:e|es|or|ion)|ubersetz\w*|tradui\w*|traduc\w*|traduz\w*|traduci|traduttore|vertaal\w*|przetlumacz\w*|tlumacz\w*|oversatt\w*|cevir\w*|fordits\w*|kaanna|preloz\w*|oversaet\w*|terjemahkan|ingilizceye|turkceye|almancaya|back-?translat\w*)\b/,
  ),
  feature(
    'translation',
    3,
    'user',
    /\bwhat does (?:this|the|that) (?:\w+ )?(?:sign|menu|label|note|card|letter|poster|plaque|tattoo) say\b/,
  ),
  feature(
    'translation',
    4.5,
    'user',
    /\b(?:(?:auf|ins) (?:englisch|deutsch|franzosisch|spanisch|italienisch|russisch|polnisch|turkisch|japanisch|chinesisch)e?n?\b|(?:en|al|em|para o?|in|naar het|na) (?:anglais|francais|allemand|espagnol|italien|ingles|espanol|frances|aleman|alemao|italiano|frances|portugues|inglese|tedesco|francese|spagnolo|engels|duits|frans|angielski|niemiecki|polski)\b|how (?:do|would|can) (?:you|i|we) say|(?:what does|was steht|was heißt|que (?:dit|dice|signifie)|what(?:'s| is) written)\b[^?\n]{0,60}\b(?:sign|menu|label|note|schild|mean in|auf (?:deutsch|englisch)|in (?:english|german|french|spanish))|(?:to|into|in) (?:plain |simple |british |american |formal |brazilian |natural )?(?:english|german|french|spanish|italian|portuguese|dutch|polish|swedish|turkish|russian|japanese|chinese|korean|arabic|hindi|greek|czech)(?: please| for|:|$)|[a-z]{2} ?(?:->|→|=>) ?[a-z]{2}\b)|翻译|翻譯|译成|译为|訳して|翻訳|英訳|和訳|번역|переведи(?!\s+в (?:json|csv))|перевод|ترجم|अनुवाद|μετάφρασ|переклад/,
  ),
  feature(
    'classification_tagging',
    5,
    'both',
    /\b(?:answer|reply|say|output|write|return|respond with|mark it) (?:an? )?["']?\w{1,20}["']? if\b|\bwhat (?:emotion|sentiment|tone|mood|feeling|language)\b[^?\n]{0,40}\b(?:each|this|every|is|does)\b|\bpositiv\w* (?:o|ou|oder|or|czy|of) negati|好评|差评|肯定的か/,
  ),
  feature(
    'data:extraction',
    4,
    'user',
    /\b(?:which|what|who|quels?|quelles?|que|welche|quais|quali)\b[^?\n]{0,80}\b(?:mention(?:ed|s|nes?)?|appears?|named|listed|occur|erwahnt|genannt|vorkommen|menciona\w*|cite[es]*)\b|\b(?:from|out of|aus|du|del|dal|desta?|da|de) (?:this|the|diese[mrn]?|dem|der|cette|ce|esta?|este|questa?|deste|essa)? ?(?:letter|text|mail|e-?mail|article|document|invoice|receipt|page|log|scan|photo|cv|resume|screenshot|transcript|schreiben|brief|text|rechnung|artikel|dokument|lettre|texte|courrier|facture|carta|texto|correo|factura|fattura|lettera|testo)\b/,
  ),
  feature(
    'data:transformation',
    3.5,
    'user',
    /\bvalid (?:json|xml|csv|yaml)\b|\bgroup (?:these|them|this|by)\b[^\n]{0,40}\b(?:by|count|and)\b|\b(?:every|each) (?:second|other|third) (?:column|row|line)|\binstead of commas\b|\bto utc\b|\ba utc\b|\bin utc\b|\buna por linea\b|\bune par ligne\b|\bzeile fur zeile\b/,
  ),
  feature(
    'summarization',
    4,
    'user',
    /\bwhat (?:happened|was (?:said|decided|agreed)|did (?:they|we) (?:decide|agree))\b[^?\n]{0,20}\b(?:in|at|during) (?:this|the)\b|\bwho does what\b|\b(?:gist|essence|short version|kernaussagen?|das wichtigste|l'essentiel|lo esencial|lo mas importante)\b/,
  ),
  feature(
    'translation',
    4.5,
    'user',
    /\bwhat would an? [a-z]+ (?:speaker|person) say\b|\b(?:se dice|si dice|se diz|sagt man|dit-on|zeg je|sager man)\b|翻成/,
  ),
  feature(
    'classification_tagging',
    3,
    'user',
    /\b(?:sort|put|file|group|route) (?:these|them|each|the|all|every)[^.\n]{0,60} (?:into|to one of):/,
  ),
  feature(
    'data:transformation',
    3,
    'both',
    /\bfrom the old (?:\w+ )?to the new\b|\bto the (?:new|target|following) (?:shape|structure|schema|format|layout)\b/,
  ),
  feature(
    'classification_tagging',
    5,
    'user',
    /\b(?:trie[rz]?|ordena|sortiere?|ordina|sorteer|posortuj)\b[^\n]{0,30} (?:en|in|em|nach|na) ?:/,
  ),
  feature(
    'data:transformation',
    5,
    'user',
    /\b(?:rename|change|reorder|swap|drop) (?:the )?(?:keys|columns|fields|headers)\b|\b(?:strip|remove) (?:all |the )?(?:html|tags|whitespace|spaces|blank lines|line breaks|emojis?|punctuation)\b|\bone \w+ per line\b|\bals (?:markdown-?)?tabelle\b|\bas an? (?:markdown |html )?table\b/,
  ),
  feature(
    'content_writing',
    4,
    'user',
    /\b(?:fix|check|correct|improve) (?:the |my )?(?:grammar|spelling|wording|flow|style|punctuation)\b|\btaglines?\b|\bformuleer\b|祝福语|贺卡|标语|演讲稿|推文|スピーチ|축사/,
  ),
];
