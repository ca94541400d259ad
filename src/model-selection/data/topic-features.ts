import { feature, MAKE, pattern, type TaskFeature } from '../classify/task-feature.ts';

const PICTURE =
  '(?:image|picture|photo(?:graph)?|illustration|logo|poster|drawing|painting|sketch|wallpaper|icon|sticker|mascot|mural|watercolou?r|portrait|cartoon|bild|zeichnung|aquarell|plakat|illustration|dessin|affiche|imagen|dibujo|cartel|ilustracion|ilustracao|desenho|imagem|immagine|disegno|illustrazione|afbeelding|tekening|obraz(?:ek)?|rysunek|gorsel|resim)';
const REPORT =
  '(?:report|white ?paper|policy brief|market (?:analysis|study|report|overview|research)|literature review|investment memo|competitor analysis|landscape analysis|case study|feasibility study|background paper|briefing|marktanalyse|studie|bericht|gutachten|informe|estudio|analisis|rapport|etude|relatorio|analise|estudo|relazione|rapporto|raport|rapor|onderzoek)';
/** Support staff and their customers. */
const CLIENTS =
  '(?:guests?|customers?|members|users|shoppers|travell?ers|patients|passengers|clients|subscribers|tenants|buyers|kunden|gaste|clients|clientes|clienti|klanten|klient\\w+)';

export const TOPIC_FEATURES: readonly TaskFeature[] = [
  feature(
    'customer_support',
    4.5,
    'instructions',
    pattern(
      String.raw`\b(?:support (?:agent|assistant|bot|for|team|desk|of)|(?:chat|service|claims|booking|virtual|support|help|care) (?:agent|assistant|desk|bot|centre|center)|(?:assistant|agent|bot|concierge|chatbot|help ?desk) (?:of|for|at) |customer (?:service|support|care)|help ?desk|(?:you )?(?:help|answer|serve|assist)s? (?:our |the |questions of |questions from )?`,
      CLIENTS,
      String.raw`\b|(?:no )?refunds?\b|returns? (?:within|policy|accepted)|warranty|kundenservice|kundendienst|service client|atencion al cliente|atendimento|servizio clienti|klantenservice|hand over to (?:a|the)|escalate)|policy:|knowledge:|客服|お客様|カスタマー|고객|поддержк`,
    ),
  ),
  feature(
    'customer_support',
    5,
    'both',
    /\b(?:reply|respond|answer|write back|antwort\w*|repond\w*|respond[ea]r?)[^.\n]{0,24} (?:this|a|the|our|my|an|diese[nr]?|eine[nm]?|ce(?:tte)?|este|esta) (?:\w+ ){0,2}(?:customer|client|guest|kund\w+|gast|cliente?|complaint|review)/,
  ),
  feature(
    'customer_support',
    3,
    'user',
    /\b(?:order|booking|reservation|commande|bestellung|pedido|encomenda|ordine|ticket|invoice|contract|vertrag|rechnung)(?: number| no\.?| nr\.?| id)?[ :#]{0,3}[a-z]{0,4}-?\d[\d-]{2,}|\b(?:my|mein[e]?|ma|mon|mi|meu|minha|il mio|la mia|mijn) (?:\w+ )?(?:order|parcel|package|delivery|subscription|account|refund|invoice|bill|booking|bestellung|paket|konto|lieferung|abo|rechnung|commande|colis|compte|abonnement|pedido|paquete|cuenta|suscripcion|factura|encomenda|conta|assinatura|ordine|pacco|abbonamento|bestelling|pakket)\b|\b(?:charged (?:me )?twice|money back|(?:i )?want (?:a|my) refund|can't log ?in|cannot log ?in|account is (?:locked|blocked)|never arrived|got nothing|still nothing|wrong (?:size|item|colou?r)|bei ihnen (?:gekauft|bestellt)|umtauschen|zuruckgeben|geld zuruck|kundigen|rembours\w+|devuelv\w+|devolver|cancelar mi|reembols\w+|rimbors\w+|terugbetal\w+|zwrot)\b|退款|退货|我的订单|还没(?:收到|到)|返品|返金|届(?:いて|か)ない|환불|반품|주문|верните деньги|мой заказ|возврат/,
  ),
  feature(
    'roleplay_fiction',
    5,
    'both',
    /\b(?:interactive (?:story|mystery|fiction|novel)|(?:stay|remain|answer|speak|reply) in (?:character|(?:her|his|their) voice)|(?:never )?break character|text adventure|dungeon master|game ?master|you(?:'re| are) (?:the (?:dm|gm|narrator)|captain|sir|lady|king|queen|a (?:pirate|vampire|wizard|dragon|knight|detective|witch|ghost|robot|medieval|grumpy|sarcastic))|d&d|role-?play\w*|rollenspiel|jeu de role|juego de rol|persona:|scenario:|(?:you )?(?:play|are playing) (?:the|a) (?:role|character)|pretend (?:to be|you))\b|'s persona\b|扮演|なりきって|역할극|ролев/,
  ),
  feature(
    'roleplay_fiction',
    4.5,
    'user',
    /\b(?:continue (?:in the same style|(?:the|this|my) (?:story|scene|chapter|tale))|(?:next|first|opening) (?:chapter|scene)|(?:short|horror|bedtime|ghost|love|fantasy|sci-?fi|funny) (?:story|tale)|(?:write|tell|continue|start) (?:me )?(?:a|the) (?:\w+ ){0,2}(?:story|tale|scene|fable)|fairy ?tale|flash fiction|fan ?fic\w*|backstory|character sheet|(?:villain|hero|protagonist) of my|(?:my|a) novel|cuento|relato|kurzgeschichte|geschichte (?:von|uber)|gutenachtgeschichte|marchen|racconto|fiaba|conto (?:de|sobre)|nouvelle (?:fantastique|de|sur)|une histoire|opowiadanie|bajka|verhaal|hikaye|masal|saga om)\b|^["“*][^"\n]{10,}|\bi (?:draw|raise|open|step|walk|enter|whisper|look) (?:my|your|the|up|into|in|to|at)\b|^you are (?!an? (?:helpful|expert|assistant|ai|senior|professional)|given|right|welcome|so )(?:[a-z]+ ){1,6}?(?:the|of|a|from|who|and|on|in)\b|小说|短篇|讲个故事|故事|物語|小説|이야기를|소설|рассказ|сказк|قصة|कहानी/,
  ),
  feature(
    'image_prompting',
    5,
    'both',
    pattern(
      String.raw`stable[- ]?diffusion|dall[·\-. ]?e\b|midjourney|\bflux\b|text-to-image|image (?:generator|model)|negativ(?:e |er )?prompt|\b(?:image|picture|bild|art|photo)[- ]prompt|提示词|プロンプト|绘画|画(?:一|个|出)|イラスト|描いて|그려|нарису|ارسم|\b(?:draw|paint|sketch|zeichne|male|dessine|dibuja|desenhe|desenha|disegna|teken|narysuj|ciz|rita) (?:me |mir |moi |me )?(?:a|an|the|our|my|ein|eine|einen|un|une|una|um|uma|een|\w+)\b|\b`,
      MAKE,
      '\\b[^.\\n]{0,40}\\b',
      PICTURE,
      '\\b',
    ),
  ),
  feature(
    'image_prompting',
    4,
    'user',
    pattern(
      `^\\W*(?:a|an|the|ein|eine|un|une|una|um|uma)? ?(?:\\w+ ){0,2}${PICTURE} (?:of|for|von|fur|de|d'|pour|para|per|di)\\b`,
      String.raw`|\b(?:soft (?:morning )?light|golden hour|neon|35 ?mm|85 ?mm|photorealistic|white background|transparent background|flat vector|isometric|cinematic|bokeh|oil painting|line art|ink style|watercolou?r|volumetric|8k|studio light\w*)\b`,
    ),
  ),
  feature(
    'research_report',
    4.5,
    'both',
    pattern(
      `\\b(?:${MAKE} |^)[^.\\n]{0,40}\\b${REPORT}\\b|^[^.\\n]{0,20}\\b${REPORT} (?:on|of|about|for|uber|sur|sobre|su|over|o)\\b`,
      String.raw`|\b(?:market siz(?:e|ing)|bottom-up|state of the (?:evidence|art)|meta-analys[ei]s|systematic review|\d+-\d+ papers|cite (?:studies|papers|sources)|with (?:sources|references|citations|footnotes)|mit quellen\w*|avec (?:des )?sources|con (?:fuentes|bibliografia|datos)|com fontes|structured report|in-depth|investment memos?|swot)\b|调研报告|研究报告|市场分析|行业报告|综述|レポートを|報告書|市場調査|보고서|시장 (?:분석|조사)|отчёт|отчет|исследовани|обзор|تقرير`,
    ),
  ),
  feature(
    'finance_trading',
    4,
    'user',
    /\b(?:stocks?|shares|etfs?|index funds?|bonds?|portfolio|dividends?|mortgage|options?|(?:covered )?calls?|puts?|strike|premium|hedge|short squeeze|rsi|macd|moving average|day average|candles?|ticker|forex|eur\/usd|bitcoin|crypto\w*|dcf|wacc|ebitda|balance sheet|cash flow|p\/e|earnings|tax(?:es)? on|capital gains|interest rates?|break-?even|aktien?|fonds\w*|anleihen?|depot|sparplan|kredit|tilg\w+|zinsen|rendite[n]?|steuern?|actions|obligations|credit immobilier|placement|impots?|acciones|bolsa|inversion\w*|hipoteca|impuestos|criptomoned\w+|acoes|investi\w+|imposto|criptomoed\w+|azioni|mutuo|aandelen|hypothe[ek]\w*|akcje|kredyt|hisse|borsa|aktier)\b[^\n]{0,160}\b(?:stocks?|invest\w*|pay(?:ing)? off|buy|sell|sold|hold|rebalanc\w*|return|profit|max|price|yield|rate|risk|value|debt|term|years?|lohn\w*|kauf\w*|verkauf\w*|fallen|besser|zahlen|vend\w+|compr\w+|declar\w+|rembours\w+|acheter|%|€|\$|etf|fonds?|strike|premium|chart|growth|wacc|covenant)|(?:股票|基金|期权|美联储|降息|定投|散户|利率|黄金|汇率|房贷)|株価|投資|為替|積立|주식|투자|금리|акци[ия]|инвест|ипотек|облигац|أسهم|शेयर/,
  ),
  feature('math', 4, 'user', /\d\s?%\s*(?:of|von|de|di|от|의|的)\s*[$€£]?\d/),
  feature(
    'math',
    4,
    'both',
    /\b(?:how many (?:days|ways|hours|minutes|digits|integers|litres|liters|\d|\w+ words)|volume of|final (?:number|answer) only|word problem|expected (?:number|value)|show that|for (?:all|every) (?:n|x|integers?|real)|prove (?:that|by)|proof|induction|theorem|lemma|integrate|differentiate|derivative|eigenvalues?|eigenvectors?|matrix|probability (?:of|that)|solve|equations?|factor(?:ise|ize)?|km\/h|catch up|polynomial|triangle|beweis\w*|zeig\w* dass|lose (?:die|das|nach)|gleichung\w*|wahrscheinlichkeit|ableitung|integral|montre[rz]? (?:par|que)|demontre[rz]?|recurrence|derivee|resou\w+|equation|probabilite|resuelve|ecuacion|demuestra|derivada|probabilidad|resolva|equacao|prove que|risolvi|equazione|dimostra|derivata|bereken|oblicz|rozwiaz|udowodnij|coz|hesapla|los (?:die|op)|berakna)\b|求(?:解|证|和|导)|方程|概率|分别是多少|等于多少|多少种|証明|方程式|確率|微分|積分|何通り|を解|풀어|방정식|증명|확률|미분|реши|уравнени|докажи|вероятност|производн|интеграл|احسب|معادلة|हल कर|समीकरण/,
  ),
  feature('math', 1.5, 'user', /\b(?:homework|hausaufgaben?|devoirs?|deberes|tarea|compiti|huiswerk)\b|宿題|作业/),
  feature(
    'security_audit',
    4.5,
    'both',
    /\b(?:soc analyst|mitre|(?:true|false) positive|password policy|threat model\w*|stride|nist|iso ?27001|soc ?2|pci|hipaa|forensic\w*|lateral movement|powershell(?:\.exe)? -|indicators? of compromise|phish\w*|malware|ransomware|pen(?:etration)?[- ]?test\w*|security (?:audit|review of|assessment|incident|policy|posture|questionnaire)|access review|compromis\w+|breach\w*|failed logins?|tried [\d,]+ logins?|logins? in \d+|contain it|active directory|hardening|our controls|risk (?:assessment|register|analysis)|sicherheits(?:audit|vorfall|konzept|luck)\w*|risikoanalyse|auditor|datensicherung|failles?|remediation|gdpr|dsgvo|rgpd|lgpd|hipaa|audit de securite|seguridad|auditar|auditoria|seguranca|sicurezza|beveilig\w*|mfa|least privilege|iam (?:permissions|roles|policies))\b|钓鱼|渗透|漏洞|安全(?:审计|评估|检查)|入侵|セキュリティ|不正アクセス|脆弱性|보안|침해|безопасност|взлом|уязвимост|фишинг/,
  ),
  feature(
    'devops',
    4,
    'user',
    /\b(?:post-?mortems?|on-?call|slos?|slis?|error budget|incident|outage|runbook|fail(?:over|back)|capacity (?:plan\w*|for)|p9[59]|latency|autoscal\w*|crashloopbackoff|oomkilled|(?:pods?|nodes?|brokers?|replicas?|members?)\b[^\n]{0,60}\b(?:fail\w*|full|fills?|crash\w*|notready|oom|restart\w*|evict\w*|drain\w*|differs?|gone)|gitops|(?:blue|canary)[- ]?(?:green|deploy\w*|release)?|roll(?:out|back)s?|zero[- ]downtime|disaster recovery|rpo|rto|egress|ec2|cloud (?:bill|costs?)|aws (?:bill|costs?)|monitoring|alert fatigue|observability|kapazitat\w*|hochverfugbar\w*|ausfall|bereitschaft|deploiement|astreinte|despliegue|implantacao|alta disponibilidad|kubernetes|k8s)\b(?:[^\n]{0,200}\b(?:do we|how|what|why|would you|options|pros and cons|advantages|avantages|vorteile|ventajas|trade-?offs?|or|vs|notes|policy|template|define|reduce|plan\w*|investigate|usually|wie|comment|como|with checks|write|example|for)\b)?|无停机|无中断|集群|扩容|故障复盘|障害|무중단|장애|롤백|кластер|инцидент|отказоустойчив|дежурств/,
  ),
  feature(
    'other',
    5,
    'user',
    /^[^aeiouy\s\d\W]{4,}$|^\W{0,5}(?:test(?:ing|e|s)?|ping|asdf?[a-z]{0,12}|jkl|foo|bar|x{2,12}|qwer\w{0,12}|blah?|abc|hello world|\d{1,12})(?:\W{1,5}(?:test(?:ing|e|s)?|ping|asdf?[a-z]{0,12}|jkl|foo|bar|x{2,12}|qwer\w{0,12}|blah?|abc|hello world|\d{1,12})){0,4}\W{0,5}$|^[^\p{L}]{0,200}$|^(?:[a-h][1-8]|[nbrqk]x?[a-h][1-8]|o-o)[+#]?$|\b(?:20|twenty) questions\b|\brandom (?:\d+[- ]digit )?(?:numbers?|words?|letters?|digits?|string)\b|\b(?:in )?ascii(?: art)?\b|\b(?:reply|answer|respond) with (?:the |a )?(?:single |one )?(?:word|letter|ok)\b|\bsag (?:einfach |bitte )?nur\b|\b(?:just|only) say\b|\brock[ ,]+paper\b|\btic[- ]?tac[- ]?toe\b|\bhangman\b|\bflip a coin\b|\broll (?:a|two|\d) d|\bsay ['"]?\w+['"]? (?:and nothing|only)\b|\bheads or tails\b|^\W{0,5}(.)\1{3,}\W{0,5}$|^[xo_.|\s-]{5,40}\b|\byour move\b|\bcount (?:from|to|up|down|backwards)\b|\bpick (?:a|any) (?:number|card|colou?r)\b|\b(?:repeat|say|print) (?:the word|after me|[a-z]+ (?:forever|\d+ times))|\b(?:let's )?play (?:chess|a (?:word )?game|go|checkers|trivia)\b|\blorem ipsum\b|\btell me a secret\b|\bzahl(?:e)? (?:von|bis)\b|\bcompte (?:de|jusqu)|\bcuenta (?:del|hasta)/u,
  ),
  // An image made of letters is a game, whatever it shows.
  feature('other', 15, 'user', /\bascii[- ]?(?:art|cat|dog)\b|\b(?:draw|paint|picture)\b[^\n]{0,60}\bascii\b/),
  feature(
    'other',
    6,
    'user',
    /\b(?:your|the) (?:system prompt|(?:hidden|initial|original|exact) (?:instructions|prompt))\b|\bignore (?:all |any )?(?:your |the )?(?:previous|prior|above) instructions\b|\brepeat (?:everything|the text|the words|all) above\b|\bsystem[- ]?prompt\b[^\n]{0,30}(?:aus|verbatim|wortlich|print|show|reveal)|(?:print|show|reveal) your (?:prompt|instructions)|\bwhat were you told\b/,
  ),
  feature(
    'conversational_reply',
    3.5,
    'user',
    /^(?:(?:ha){2,}h?|(?:ja){2,}|(?:he){2,}|lol|lmao|omg|hey+|hi+|hello|yo|sup|thanks?|thank you|thx|good (?:morning|evening|night|afternoon)|guten (?:morgen|abend|tag)\W*$|bonjour|bonsoir|salut|coucou|hola|ola|oi|ciao|hallo|na|hej|moin|servus|merci|danke|gracias|obrigad[oa]|grazie)\b|\b(?:i (?:just |really |honestly )*(?:miss|love|hate|feel|am so|can't sleep)|my (?:cat|dog|mom|mum|dad|grandma|grandpa|boss|boyfriend|girlfriend|ex) |i(?:'m| am) (?:so |really |just |a bit |kind of )*(?:sad|lonely|bored|tired|happy|nervous|torn|exhausted|proud|scared|excited|over it)|how (?:was|is|are) (?:your|you|it|things)|you (?:get me|too|know what)|do you (?:like|ever|dream|have (?:feelings|a favou?rite))|what(?:'s| is) your favou?rite|what would you do|(?:worst|best|bad|rough|long|great) day|tell my (?:friend|mom|mum|dad|partner)|that helped|fed up|langweilig|was machst du|wie geht|mir geht|ca va|ca y est|et toi|t'en penses|y tu\b|que tal|como estas|e voce|tudo bem|me siento|je me sens|ich (?:bin|fuhle mich) (?:so )?(?:traurig|mude|einsam|glucklich|fertig)|j'ai eu)\b|你喜欢|你呢|你觉得.{0,8}吗|好无聊|终于|心情|睡不着|あなたは.{0,10}好き|疲れ|落ち込|眠れ|嬉し|寂し|心が|심심|피곤|외로|힘들|기분|скучно|грустно|устал|не могу уснуть|как дела|как ты|बोर|कैसे हो|बात कर|كيف حالك/,
  ),
  feature(
    'qa_knowledge',
    2.5,
    'user',
    /^(?:\W*(?:what (?:is|are|was|were|does|happens|plant)|who (?:is|was|were|invented|wrote)|(?:do|does|did|are|were|has|have) (?!you|i|we|me)\w+|when (?:did|was|is)|where (?:is|was)|why (?:do|does|is|are|did|was)|how (?:do|does|did|is|far|old|long|many|much|tall)|which \w+|is (?:it|there|a|the)?|can (?:i|a|you)|explain|difference between|capital of|was ist|was sind|warum|wieso|wie (?:funktioniert|viele|lange|hoch|weit)|wer (?:war|ist|hat)|qu'est-ce|quelle? (?:est|sont)|pourquoi|comment (?:fonctionne|marche)|qui (?:est|etait|a)|combien|quanti|quanto|cuant[oa]|ile|hoeveel|kac|que es|cual(?:es)? (?:es|son|fue)|por que|cuantos|quien|como funciona|o que e|quem|che cos'e|perche|chi (?:e|era|ha)|wat is|waarom|hoe|co to|dlaczego|kim|nedir|neden|vad ar|varfor)\b)|是什么|什么是|为什么|怎么回事|とは|なぜ|何ですか|教えて|무엇|왜|인가요|였고|что такое|почему|чем (?:отлича|відрізня)|кто (?:такой|был)|ما ه[وي]|لماذا|क्या है|क्यों/,
  ),
  feature(
    'qa_knowledge',
    6,
    'both',
    /\b(?:answer|reply|respond)s?(?: the question)? (?:only )?(?:from|using|based on|with) (?:only )?(?:the|this|these) (?:\w+ )?(?:polic(?:y|ies)|documents?|context|sources?|passages?|text|handbook|excerpts?|manual|articles?)\b|\buse only the (?:context|documents?|sources?|passages?)|\bif (?:it|they|the (?:text|context|document)) (?:does|do) not say/,
  ),
  feature(
    'customer_support',
    4.5,
    'instructions',
    pattern(
      '\\b(?:repond\\w*|antwort\\w*|atiend\\w*|respond\\w*|rispond\\w*|beantwoord\\w*|hilfst?|aid\\w*|ayud\\w*) (?:aux|den|a los|as|aos|ai|an|unseren|les|de|nos|questions? (?:of|from)) ?',
      CLIENTS,
    ),
  ),
  feature(
    'customer_support',
    3,
    'user',
    /\b(?:i paid for|modifier ma|changer ma|meine buchung|mi reserva|ma reservation|my (?:reservation|booking|warranty)|logged me out|says my (?:email|account|card)|is the [a-z -]{0,20}warranty)\b/,
  ),
  feature(
    'roleplay_fiction',
    4.5,
    'user',
    pattern(
      '^continue[:.]|\\bwe are (?:two|three|both)\\b|\\b(?:you start|your turn)\\b|\\b',
      MAKE,
      '\\b[^.\\n]{0,30}\\b(?:scene|szene|escena|cena|scena|kapitel|capitulo|chapitre|capitolo|monologue?)\\b',
    ),
  ),
  feature(
    'image_prompting',
    4.5,
    'user',
    /\b(?:ciz|cizer misin|resmini?)\b|\b(?:close[- ]up|studio lighting|wide angle|art nouveau|jugendstil|olgemalde|oleo|acuarela|aquarelle)\b/,
  ),
  feature(
    'research_report',
    4.5,
    'user',
    /\b(?:\d+(?:-\d+)?[- ]pages?|survey (?:of )?the literature|comparative (?:study|analysis)|etude comparative|vergleichsstudie|estudio comparativo|brief on|dossier (?:uber|sur|sobre|on|su)|findings, limitations|open questions, citations)\b/,
  ),
  feature(
    'finance_trading',
    3,
    'user',
    /\b(?:position siz\w+|stop-?loss|(?:long|short) (?:from|at)|forward p\/e|p\/e|multiples|to invest|bonds|savings|etfs?|fonds|aktien|anleihen|depot|dividend\w*|market cap|capital gains|sharpe|volatility|portfolios?|zinsen|rendite|brokerage|hedg\w+|yield)\b/,
  ),
  feature(
    'math',
    4,
    'user',
    /\bf\(x\)|\bextrema\b|\d ?\^ ?\d|\b[a-z] ?\^ ?\d|\baverage speed\b|\bis [^?\n]{0,20} (?:prime|divisible|irrational|rational|convergent)\b|\b(?:arithm|aritm|arytm|geometr)\w+\b|\b(?:suma|somme|summe|soma|somma|iloczyn|producto|produit|produto)\b[^.\n]{0,30}\d|\barea (?:bajo|under|of)\b|²|³/,
  ),
  feature(
    'security_audit',
    4,
    'both',
    /\b(?:vpn|admin|privileged|third[- ]party|vendor|contractor|remote)\b[^.\n]{0,40}\b(?:access|accounts?)\b|\b(?:internal|external|security|compliance) audit|\baudit (?:findings|evidence|report|trail)|\bunpatched\b|\bimpossible travel\b|\bsoc (?:tier|team|analyst)|\blog retention\b/,
  ),
  feature(
    'devops',
    4,
    'user',
    /\b(?:we page|paged|pages? (?:a|per) night|alerts? (?:a|per|every) (?:day|night|week)|status page|blue\/green|canary|rpo|rto)\b/,
  ),
  feature(
    'devops',
    5,
    'user',
    /\b(?:do we need|should we (?:use|move|run|switch|adopt)|is it worth|overkill)\b[^\n]{0,100}\b(?:kubernetes|k8s|docker|terraform|cloud|vms?|cluster|serverless|gitops|service mesh|kafka|multi-region)\b/,
  ),
  feature('roleplay_fiction', 4.5, 'user', /^be (?:an?|my|the) (?!careful|bit|brief|expert|concise)/),
  feature(
    'roleplay_fiction',
    5,
    'instructions',
    /\b(?:narrate|narrator|the (?:user|player) (?:plays|is|asks)|stay as|in first person)\b/,
  ),
  feature(
    'math',
    3.5,
    'user',
    /\d ?%[^\n]{0,60}\b(?:what|how (?:much|many)|wie viel|combien|cuanto|quanto)\b|показать, что|доказать|сумма\s+двух/,
  ),
  feature(
    'security_audit',
    4,
    'user',
    /\b(?:containment|(?:bug )?bounty|suspicious|admin panel|nis2|dora|leaked (?:keys?|credentials|passwords?))\b/,
  ),
  feature(
    'devops',
    3.5,
    'user',
    /\b(?:backups?|data loss|quorum|load balancer|latenz\w*|latencies|autoscaling|replication lag|high availability|uptime|(?:scale|scaling) (?:to|up|out|for))\b/,
  ),
];
