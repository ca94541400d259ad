import type { TaskTag } from './task-tags.ts';

/**
 * Words and pairs of words that speak for a tag, in lower case: those that nearly decide, and those that only hint. Written
 * for this project, in the languages that callers write; whoever adds one runs `npm run eval:router`.
 */
export interface Terms {
  readonly strong: readonly string[];
  readonly weak: readonly string[];
}

const list = (text: string): readonly string[] =>
  text
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '');

const terms = (strong: string, weak = ''): Terms => ({ strong: list(strong), weak: list(weak) });

export const TASK_TERMS: Readonly<Partial<Record<TaskTag, Terms>>> = {
  'code:general_impl': terms(
    `write a function, implement, implementiere, implementieren, implémente, implementa, implemente, python function, unit test, unit tests,
     unittest, pytest, algorithm in, leetcode, class that, rest api, write code, write a program, write a script, python script, refactor,
     refaktoriere, typescript, javascript, golang, rust, kotlin, c++, java, programm, programa en, fonction python, función, função, recursion,
     linked list, binary tree, data structure, type hints, docstring, async function, decorator, sdk, boilerplate, schrijf een functie,
     scrivi una funzione, napisz funkcję, fonksiyon yaz, skriv en funktion, escribe una función, escreva uma função, écris une fonction,
     schreibe eine funktion, clase en, classe en, klasse in, implementar, implementer, implementuj, spring boot, laravel, rails, ocaml, haskell,
     elixir, swift, scala, php, lexer, parser, thread-safe, coroutine, goroutine, unit-test, testcase, enum, struct, oauth client, cli app,
     chrome extension, discord bot, telegram bot, websocket server, web scraper`,
    `function, class, method, python, code, library, module, package, api, endpoint, parse, generic, interface, compile, algorithm, regex, script,
     node.js, django, flask, fastapi, spring, iterator, funktion, klasse, fonction, código, codice, django model, thread, mutex, cache, queue,
     cli tool, skript, programma, funzione, funkcja, fonksiyon, serveur, servidor, servizio, klassen, attribut, callback, bot, compiler, iterate`,
  ),
  'code:debugging': terms(
    `traceback, stack trace, stacktrace, segfault, segmentation fault, nullpointerexception, typeerror, valueerror, keyerror, attributeerror,
     indexerror, referenceerror, syntaxerror, importerror, modulenotfounderror, undefined is, is not a function, is undefined, cannot read,
     debug, debugging, fix this, fix the bug, why does this, why is this, doesn't work, does not work, not working, throws, exception, panic:,
     failing test, test fails, tests fail, race condition, memory leak, deadlock, off-by-one, unexpected behavior, bug, fehlermeldung,
     funktioniert nicht, ne marche, ne fonctionne, no funciona, não funciona, non funziona, wirft, core dumped, infinite loop, flaky,
     nullreferenceexception, stack overflow, won't compile, does not compile, doesn't compile, compile error, build fails, wrong output, returns
     undefined, unhandled, rejects with, werkt niet, nie działa, çalışmıyor, fungerar inte, pourquoi ça, warum stürzt, stürzt ab, plante, se cae,
     si blocca, hydration error, cors error, permission denied, econnrefused, heap out of memory, repro, what am i doing wrong`,
    `error, fails, failing, crash, crashes, broken, wrong, fehler, erreur, fallo, erro, unexpected, expected, returns null, none, undefined, nan,
     fix, issue, stuck, hangs, warning, log, line, fout, błąd, hata, errore, fel, ausnahme, exited, leak, regression`,
  ),
  'code:file_read_write': terms(
    `edit the file, update the file, modify the file, in the file, open the file, apply the patch, apply this, in src, readme.md, package.json,
     write to file, create a file, create file, change the file, add a line, config file, datei, fichier, archivo, arquivo, in file, to the file,
     at the top of, at the end of the file, into the file, changelog.md, .gitignore, .env, add a field to, bump the version, replace all, rename
     in, delete the file, move the file, bestand, plik, dosya, fil`,
    `file, files, path, folder, directory, src, patch, append, overwrite, replace, rename the, save it`,
  ),
  'code:frontend_ui': terms(
    `react, react component, jsx, tsx, tailwind, css, html, svelte, vue.js, angular, next.js, nextjs, flexbox, css grid, landing page, navbar,
     button component, dark mode, responsive, dom, useeffect, usestate, shadcn, webpage, web page, website, storybook, stylesheet, hover, modal,
     dropdown, accessibility, aria, figma, svg icon, media query, carousel, sidebar, tooltip, sass, scss, z-index, webseite, bootstrap, html
     page, css animation, media queries, sticky, grid layout, skeleton, form validation, astro, remix, solidjs, htmx, dropdown menu, toast,
     breakpoints, safari, viewport, botón, bouton, schaltfläche, pulsante`,
    `component, frontend, front-end, ui, layout, button, form, page, styling, style, browser, animation, canvas, props, click, center, div, input
     field, scroll, header, footer, design, vue`,
  ),
  'code:review_security': terms(
    `code review, review this, review my, review the, pull request, review these, sql injection, xss, csrf, vulnerabilities, vulnerability in,
     is this code, is this safe, secure code, insecure, injection, sanitize, hardcoded, code smell, code smells, security issues, security review,
     code-review, überprüfe, relis, revisa, revise, best practices, maintainability, path traversal, ssrf, deserialization, what could go wrong,
     is it safe to, anything wrong with this, look over this, look over my, second pair of eyes, nitpicks, reviewer, critique this code, toctou,
     idor, hardcoded secret, timing attack, recensisci, beoordeel`,
    `review, vulnerability, unsafe, secure, merge, feedback, approve, nitpick, escape, auth, token, exploit, prüfe`,
  ),
  'code:shell_execution': terms(
    `bash, bash script, shell script, shell command, one-liner, command line, terminal, powershell, awk, grep, chmod, cron job, crontab, find . -name,
     ffmpeg, rsync, ssh, curl command, zsh, xargs, execute the, git command, git rebase, git bisect, kill the process, list all processes,
     systemctl, jq, imagemagick, shell-befehl, commande shell, comando, du -sh, df -h, tar -x, sed -i, run this, run these, shell one-liner,
     in the terminal, brew install, apt install, apt-get, docker run, lsof, netstat, htop, journalctl, kill -9, symlink, ps aux, terminalbefehl,
     ligne de commande, línea de comandos, linha de comando, riga di comando, wiersz polecenia`,
    `command, script, linux, ubuntu, macos, unix, environment variable, pipe, stdin, stdout, process, disk, sudo, install, pip install,
     npm install, git`,
  ),
  'code:repo_scan': terms(
    `codebase, repository, this repo, the repo, code base, entire project, where is, which files, find where, call graph, find usages,
     project structure, architecture of, dependency graph, monorepo, all files, how does this project, walk me through, explain the codebase,
     repo, code-basis, dépôt, repositorio, entry point, dead code, unused exports, where do we, who calls, how is this project,
     overview of the project, which file, in which file, where in the, find all places, find every, list all endpoints, entry points,
     module graph, project layout, wo im code, où dans le code, dónde está, onde fica, dove si trova`,
    `project, modules, imports, structure, references, usages, files, folders, overview, map, architecture`,
  ),
  'code:sql_database': terms(
    `sql, sql query, select from, left join, inner join, group by, postgresql, sqlite, database schema, migration, orm, index on, explain
     analyze, aggregation pipeline, window function, cte, primary key, foreign key, snowflake, bigquery, query plan, stored procedure, datenbank,
     base de datos, base de données, banco de dados, order by, upsert, jsonb, prisma, materialized view, sharding, deadlocks, ddl, schema design,
     er diagram, data model, mariadb, clickhouse, duckdb, t-sql, pl/sql, subquery, self join, sum over, rank over, btree index, covering index,
     n+1, foreign keys, alter table, create table, insert into, sqlalchemy, where clause, abfrage schreiben, consulta sql, requête sql`,
    `query, table, column, database, rows, join, schema, index, records, tabelle, abfrage, requête, consulta, tabla, tabela, having, tables,
     partition, normalize, oracle, postgres, mysql, mongodb, redis`,
  ),
  'code:devops_config': terms(
    `dockerfile, docker-compose, docker compose, kubernetes manifest, helm chart, helm, terraform, github actions, gitlab ci, ci pipeline, ci/cd,
     yaml file, nginx config, ansible, jenkinsfile, jenkins, systemd unit, kustomize, argo, argocd, cloudformation, pulumi, makefile, webpack,
     vite config, eslint, tsconfig, prometheus config, traefik, envoy, deployment yaml, values.yaml, workflow file, multi-stage, healthcheck,
     ingress, hcl, vagrant, caddyfile, pre-commit, dockerfiles, compose file, kubernetes yaml, cronjob, configmap, service account, ingress yaml,
     haproxy, apache config, .gitlab-ci.yml, renovate, dependabot, packer, nix flake, flake.nix, systemd, logrotate, fluentd, alert rule,
     alerting rules, prometheus rules, rbac, network policy, tfvars, terragrunt, bicep, konfigurationsdatei, fichier de configuration, archivo de
     configuración`,
    `docker, kubernetes, config, pipeline, container, deploy, build, env, stage, image, cluster, pod, toml, nginx, yaml`,
  ),
  'agent:workflow_execution': terms(
    `workflow, automation, automate, each step, then send, once done, zapier, run the workflow, carry out, process all, trigger, approve the,
     schedule a meeting, book a, file the, onboarding, hand over, follow the steps, go through, run through, fill out the form, log      in and,
     renew my, complete the checkout, process the, sync the, migrate the accounts, anschließend`,
    `steps, task, tasks, ticket, calendar, email, update, notify, crm, invoice, complete, execute, send, finally, and finally, reserve, whenever,
     luego, después, depois, poi, danach, ensuite, every time, as soon as, for each, and then, after that, end to end`,
  ),
  'agent:multi_step_planning': terms(
    `step-by-step plan, step by step plan, make a plan, create a plan, plan for, break down, break this down, break it down, roadmap, milestones,
     project plan, plan the, planning, decompose, subtasks, sub-tasks, action plan, plan out, before you start, do not execute, don't execute,
     dependencies between, gantt, plan de, einen plan, planifica, planeja, schritte, phases, itinerary, sprint plan, migration plan, work
     breakdown, prioritize, contingency, zeitplan, projektplan, schritt für schritt, plan d'action, plan de proyecto, cronograma, plan projektu,
     stappenplan, piano di, sub-agents, subagents, orchestrator, planner, critical path, rollout plan, training plan, study plan, move plan,
     etappen, étapes, etapas, tappe`,
    `plan, steps, goal, goals, timeline, order, prioritise, strategy, phase, week, weeks, agent, agents, dependencies, in which order, sequence
     of`,
  ),
  'agent:tool_dispatch': terms(
    `use the tool, which tool, function call, function calling, tool call, tools available, call the api, invoke, turn on, turn off, remind me,
     get the weather, weather in, order status, what's the weather, stock price of, create an event, send an, cancel my, wetter, météo, clima,
     play some, play the, set a timer, set an alarm, set the thermostat, turn up, turn down, dim the, lock the, unlock the, call mom, navigate
     to, add milk, add to my, shopping list, currency, convert currency, text my, erinnere mich, rappelle-moi, recuérdame, me lembre, ricordami,
     licht, lumière, luces`,
    `tool, tools, weather, lights, timer, alarm, reminder, temperature, get, check, schedule, fetch, current, look up, play, set, call the, add
     to`,
  ),
  'agent:memory_extraction': terms(
    `remember that, remember, long-term memory, user facts, facts about the user, user's preferences, user preferences, extract memories,
     save to memory, update the profile, user profile, what do you know about me, worth remembering, should be remembered, conversation summary,
     merke dir, souviens-toi, recuerda, lembre, facts worth, previous conversations, store the fact, save this for later, keep in mind,
     note that i, from now on, my preferences, known facts, new facts, memory update, memory store, memory json, vergiss nicht, n'oublie pas,
     no olvides`,
    `preferences, profile, facts, recall, forget, store, history, conversation, notes, memory, memories, persistent`,
  ),
  'agent:web_search': terms(
    `search the web, web search, search online, google, latest news, look online, find online, browse, on the internet, current news, today's,
     recent news, up-to-date, as of today, search for, breaking, with sources, cite sources, im internet, recherche sur, busca en, pesquise, sur
     internet, this week, latest, newest, who won, current price, release date, last week, latest version, live score, opening      hours, is
     there news, price right now, recommendations for, in stock, neueste, aktuelle, actuellement, últimas noticias, últimas notícias, ultime
     notizie, opening times, who is the current`,
    `search, today, recent, current, news, sources, links, website, url, online, yesterday, heute, aujourd'hui, hoy, hoje, 2025, 2026, find me,
     find out, this year, currently, schedule for, right now, this month, what happened`,
  ),
  'data:extraction': terms(
    `extract, extrahiere, extraire, extrais, extrae, extraia, extraiga, pull out, from the following text, named entities, entities, entity
     extraction, parse the invoice, invoice number, into json, as json, return json, json with, fields:, key-value, line items, structured data,
     key facts from, receipt, populate, fill in the fields, ner, from this email, from the contract, extract all, extract the, pull all, pull
     every, pick out, read out, which companies, mentioned in, estrai, wyodrębnij, haal alle, çıkar, alle daten, toutes les dates, todas las
     fechas, todas as datas, all amounts, all people, invoice total, due date, order details, contact details, key fields, as a json object`,
    `fields, field, invoice, json, values, names, dates, amounts, document, contract, text below, following, identify, schema, list the, get all,
     phone numbers, email addresses, all dates, all names, resume, list all the`,
  ),
  'data:transformation': terms(
    `convert, convert this, konvertiere, convertis, convierte, converta, csv to, to csv, json to, to json, to yaml, to xml, xml to, to markdown,
     reformat, format this, normalize the, clean the data, clean up this, pivot, transpose, deduplicate, sort this, merge these, into a table,
     as a table, tabelle um, transform, map each, rename the columns, iso 8601, date format, snake_case, camelcase, restructure, rearrange,
     alphabetically, flatten, parse the csv, spreadsheet, excel formula, one per line, unify, group these, sort by, group by, remove duplicates,
     dedupe, uppercase, lowercase, title case, swap the, split the, merge the, join the lists, fix the formatting, anonymize, anonymise, redact,
     mask the, replace every, pad with, latex table, html table, to sql, to toml, from yaml, umwandeln, in eine tabelle, en tableau, en una tabla,
     em uma tabela, in una tabella, zamień na, tabloya, sortiere, trie, ordena, round to, unix timestamps, epoch, camel case`,
    `csv, table, columns, rows, list, json, xml, yaml, format, markdown, data, excel, sheet, clean, dataset, pandas, lines`,
  ),
  classification_tagging: terms(
    `classify, klassifiziere, classifie, classifique, clasifica, categorize, categorise, sentiment, positive or negative, label the, labels:,
     which category, one of the following, spam, is this spam, toxic, intent, intents, topic of, tag this, tags, assign a, assign one, moderation,
     true or false, yes or no, answer only, answer with one, sentiment analysis, urgency, ordne, kategorie, catégorie, categoría, categoria,
     kategorisiere, rate the sentiment, multi-label, route this, triage, genre, sentiment of, positive, negative or, classification,
     categorise these, categorize these, bucket, bucket these, assign labels, what category, spam or not, hate speech, toxicity, language of,
     detect the language, rate from 1, rate each, score each, severity, pick one, choose one of, sınıflandır, sklasyfikuj, classificeer,
     classifica, einstufen, stimmung, sentimiento, sentimento`,
    `category, categories, label, labels, negative, neutral, class, classes, rating, priority, detect, options, ham, topics`,
  ),
  content_writing: terms(
    `blog post, write an article, write a blog, essay, write an essay, cover letter, product description, newsletter, press release,
     linkedin post, tweet, instagram, caption, headline, headlines, slogan, tagline, speech, poem, write a poem, haiku, wedding, rewrite,
     rephrase, proofread, improve the, make it sound, more professional, paraphrase, edit this, script for, song, lyrics, copywriting, ad copy,
     landing page copy, bio, write a letter, artikel, gedicht, rédige, redacta, redija, escribe un, écris, schreibe, schreib, escreva, scrivi,
     aufsatz, umformulieren, reformule, toast, eulogy, limerick, sonnet, job posting, sales email, cold email, follow-up email, brand voice, hook,
     seo, outline for, write me a, write an email, draft an email, draft a, write a text, about page, announcement, invitation, birthday,
     farewell, thank-you note, obituary, mission statement, recommendation letter, motivation letter, bewerbung, anschreiben,
     lettre de motivation, carta de presentación, napisz, skriv, schrijf, yaz, kirjoita, werbetext, einladung, invitación, convite, rede,
     discours, discurso, rewrite this, shorten this, more concise, friendlier, less formal, product page, bullet copy, script for a video,
     podcast intro, jingle`,
    `write, article, blog, post, tone, paragraph, words, draft, letter, email, marketing, audience, catchy, creative, story, engaging, title,
     persuasive, polish, brand, grammar, introduction, text`,
  ),
  qa_knowledge: terms(
    `what is, what are, nedir, who is, who was, when did, when was, why do, why is, why are, how does, how do, how many, explain, define,
     difference between, what does, capital of, meaning of, tell me about, was ist, warum, wie funktioniert, erkläre, qu'est-ce, pourquoi,
     comment fonctionne, explique, qué es, por qué, cómo funciona, o que é, por que, che cos'è, perché, history of, how long, which country,
     is it true, can you explain, what causes, eli5, in simple terms, what year, how far, how old, inventor, what's the, how come, who invented,
     who wrote, where is, wofür, woher, wieso, c'est quoi, comment marche, quando, dove, waarom, wat is, dlaczego, co to jest, vad är, varför,
     neden, nasıl, can a, does a, is a, are there, do i need, what happens when, tell me the, give an example of, compare, pros and cons`,
    `what, who, when, where, why, how, which, meaning, example, theory, history, science, difference, wer, wann, wo, wie, quoi, quel, quelle,
     cuál, quién, qual, quem`,
  ),
  conversational_reply: terms(
    `hi, hello, hey, merhaba, good morning, how are you, thanks, thank you, hallo, guten morgen, bonjour, salut, hola, olá, ciao, what's up,
     i feel, i'm feeling, feeling, i am sad, lonely, bored, let's chat, chat with, talk to me, my day, good night, lol, haha, merci, danke,
     gracias, obrigado, i miss, i had, my girlfriend, my boyfriend, my friend, my mom, my boss, just wanted, nice to meet, how was your, vent,
     cheer me, wie geht's, ça va, qué tal, tudo bem, reply to this message, how should i reply, text back, respond to, good evening, i'm back,
     guess what, me too, hehe, lmao, omg, oh no, yay, how's it going, what do you think, had a rough, rough day, can't sleep, so excited,
     i love you, you're funny, thx, ty, tack, dzięki, cześć, hej, hoi, dank je, teşekkürler, selam, grazie, buongiorno, bom dia, buenos días,
     buenas, schönen tag, gute nacht, bonne nuit, coucou`,
    `you, me, feel, friend, today, really, sorry, okay, ok, nice, sad, happy, tired, love, talk, chat, advice, weekend`,
  ),
  roleplay_fiction: terms(
    `roleplay, role-play, role play, stay in character, in character, you are a wizard, dungeon master, dnd, d&d, pretend you, pretend to, act as,
     imagine you are, fantasy, rpg, nsc, npc, *smiles*, *she, *he, campaign, character sheet, tavern, continue the story, fan fiction, fanfiction,
     first person, spiel die rolle, joue le rôle, interpreta, persona, narrator, scene:, chapter, in-character, roleplaying, protagonist, villain,
     worldbuilding, text adventure, novel, short story, write a story, once upon a time, bedtime story, horror story, sci-fi, science fiction,
     flash fiction, plot twist, chapter one, next chapter, monologue, backstory, magic system, you are captain, you are sir, you are lady,
     i enter the, i draw my, cuento, historia de, kurzgeschichte, märchen, erzähle eine geschichte, raconte une histoire, conto, racconto,
     opowiadanie, hikaye, verhaal, novella, dialogue between`,
    `character, dragon, knight, story, scene, dialogue, magic, kingdom, sword, vampire, elf, detective, captain, spaceship, whispers, world,
     quest`,
  ),
  customer_support: terms(
    `refund, my order, order number, customer support, customer service, support agent, cancel my subscription, cancel my, return policy,
     tracking number, complaint, i was charged, charged twice, billing, my account, reset my password, can't log in, cannot log in,
     hasn't arrived, not arrived, haven't received, delivery, warranty, support ticket, dear customer, rückerstattung, bestellung, remboursement,
     commande, reembolso, mi pedido, meu pedido, kundenservice, service client, locked out, damaged, replacement, exchange, shipping, invoice for,
     subscription, helpdesk, agent assist, i ordered, i bought, i paid, it arrived, arrived broken, stopped working, doesn't turn on, wrong item,
     wrong size, missing part, cancel my order, change my address, change my booking, upgrade my plan, downgrade, free trial, promo code, coupon,
     my invoice, my bill, card declined, unsubscribe, speak to a human, garantie, lieferung, reklamation, umtausch, livraison, colis, rembourser,
     garantía, envío, entrega, spedizione, rimborso, zamówienie, zwrot, sipariş, iade, bestelling, retour, beställning`,
    `order, account, customer, support, package, payment, password, login, cancel, return, help me, policy, charge, email, product, received,
     apologize, ticket, konto, compte, cuenta`,
  ),
  summarization: terms(
    `summarize, summarise, özetle, streść, summary, tl;dr, tldr, fasse, zusammenfassung, zusammenfassen, résume, résumé, résumer, resume el,
     resume este, resumen, resuma, resumo, riassumi, key points, main points, key takeaways, bullet points, in one sentence, condense, shorten,
     meeting notes, recap, abstract of, in a nutshell, executive summary, gist, action items, boil down, digest, highlights of,
     takeaways, summarise the, sum this up, short summary, tl dr, three sentences, in two sentences, in 3 bullets, in five bullets,
     what did they decide, what was decided, kurz zusammen, en bref, en resumen, em resumo, in sintesi, podsumuj, samenvatting, vat samen,
     sammanfatta, özet, what's the main, catch me up, abstract, cliff notes`,
    `article, transcript, following text, meeting, brief, short, sentences, bullets, notes, key, main, points, paper, thread`,
  ),
  image_prompting: terms(
    `image prompt, midjourney, stable diffusion, dall-e, dalle, generate an image, create an image, draw, draw me, picture of, photo of,
     illustration, logo, prompt for, image of, photorealistic, watercolor, oil painting, 8k, cinematic, text-to-image, negative prompt, zeichne,
     bild von, erstelle ein bild, dessine, génère une image, dibuja, genera una imagen, desenhe, gere uma imagem, wallpaper, poster, --ar, icon
     of, concept art, flux, sdxl, bokeh, isometric, pixel art, draw a, paint, painting of, portrait of, an image of, a picture of, a photo of,
     mural, sticker, t-shirt design, book cover, album cover, thumbnail, character design, dall, sd prompt, imagen 4, leonardo ai, --v, aquarell,
     gemälde, zeichnung, affiche, cartel, ilustración, ilustração, illustrazione, obraz, görsel, line art, low poly, anime style, studio ghibli,
     3d render, hex colors`,
    `image, picture, style, background, lighting, portrait, scene, colors, camera, art, visual, lens, bild, imagen, texture, render, sketch`,
  ),
  research_report: terms(
    `research report, literature review, report on, in-depth, comprehensive report, market analysis, market research, competitive analysis,
     whitepaper, deep dive, deep research, state of the art, systematic review, compare and contrast, pros and cons of, with citations, citations,
     references, bibliography, analysis of the, industry analysis, policy brief, survey of, evidence, peer-reviewed, studie, bericht über,
     rapport sur, informe sobre, relatório sobre, research question, methodology, meta-analysis, feasibility study, landscape of, trends in,
     comparative study, background report, findings, write a report, detailed report, research on, background on, briefing on, white paper,
     policy paper, benchmark of, market overview, landscape, swot, pestel, case study, in depth, thorough analysis, evidence for,
     what does the research, what do studies, sources for, marktanalyse, étude de marché, estudio de mercado, estudo de mercado,
     analisi di mercato, raport, rapport om, dossier, forschungsstand, état de l'art, estado del arte`,
    `research, report, analysis, study, studies, data, sources, compare, impact, trends, market, evaluate, overview, comprehensive, detailed,
     sections, assess, implications`,
  ),
  finance_trading: terms(
    `stocks, trading strategy, portfolio, options, call option, put option, etf, dividend, dcf, discounted cash, balance sheet, p/e, earnings,
     cash flow, bitcoin, crypto, forex, hedge, hedging, bond, yield curve, sharpe, backtest, rsi, macd, moving average, invest, investment,
     interest rate, mortgage, 401k, ira, aktie, aktien, depot, action boursière, bourse, acciones, bolsa, ações, valuation, ebitda, revenue
     growth, black-scholes, volatility, short selling, inflation, loan, compound interest, tax, taxes, amortization, futures, swap, nasdaq, s&p,
     10-k, quarterly, liquidity, value at risk, roth ira, isa, pension, retirement, savings, portfolio of, index fund, rebalance, position size,
     stop loss, stop-loss, limit order, ticker, irr, npv, wacc, cap rate, capital gains, tax return, payroll, break-even, burn      rate, runway,
     gross margin, kredit, zinsen, hypothek, rente, steuer, steuern, rendite, sparplan, prêt, impôt, épargne, crédit, préstamo, impuesto,
     impuestos, ahorro, hipoteca, empréstimo, imposto, poupança, mutuo, tasse, kredyt, podatek, kredi, vergi, hypotheek, belasting, lån, skatt,
     exchange rate`,
    `price, market, risk, return, buy, sell, trade, profit, rate, capital, asset, fund, budget, revenue, margin, usd, eur, quarter, bank, shares,
     stock`,
  ),
  translation: terms(
    `translate, translation, przetłumacz, çevir, übersetze, übersetzen, übersetzung, traduis, traduire, traduction, traduce, traducir, traducción,
     traduza, traduzir, tradução, traduci, into english, into german, into french, into spanish, into japanese, into chinese, to english,
     to german, to french, to spanish, to japanese, to chinese, to portuguese, into portuguese, into italian, to italian, to korean, into korean,
     into arabic, to arabic, to hindi, into hindi, ins deutsche, ins englische, en anglais, en français, al inglés, al español, para o inglês,
     para inglês, para português, localize, how do you say, how do i say, wie sagt, comment dit-on, cómo se dice, en español, auf englisch,
     auf deutsch, in french, in german, in spanish, in japanese, subtitles, translator, translate this, translate to, translate the, vertaal,
     översätt, tradu, traduis en, oversett, in english please, what does it mean in, ins spanische, ins französische, ins italienische,
     ins russische, en allemand, en espagnol, en italien, al alemán, al francés, al italiano, al portugués, em inglês, em espanhol, in inglese,
     in tedesco, na angielski, na niemiecki, na polski, ingilizceye, türkçeye, naar het engels, naar het nederlands, till engelska, to dutch,
     to polish, to turkish, to swedish, to russian, into russian, into dutch, into polish, into swedish, into turkish, back-translate`,
    `english, german, french, spanish, japanese, chinese, italian, portuguese, language, korean, russian, arabic, hindi, literal, idiom,
     native speaker, formal`,
  ),
  math: terms(
    `solve, solve for, çöz, equation, equations, integral, derivative, prove that, proof, theorem, calculate, compute the, probability,
     probability of, matrix, eigenvalue, eigenvalues, polynomial, quadratic, triangle, geometry, modulo, prime number, primes, limit of,
     differential equation, factorize, combinatorics, permutations, how many ways, lemma, löse, gleichung, beweise, berechne, résous, équation,
     démontre, calcule, resuelve, ecuación, resolva, equação, demuestra, find x, find the value, expected value, variance, standard deviation,
     dot product, arithmetic, geometric series, sum of, square root, logarithm, wahrscheinlichkeit, probabilité, probabilidad, hypotenuse,
     divisible, gcd, word problem, percent of, binomial, convex, isomorphic, bijection, converges, sin(, cos(, simplify, evaluate the, how many
     different, at least one, without replacement, dice, two dice, remainder, digits of, fraction, fractions, percentage, percent, average speed,
     area of, perimeter, radius, diameter, slope, tangent, asymptote, taylor, induction, contradiction, if and only if, real numbers, natural
     numbers, complex number, determinant, linear system, inequality, rationalize, oblicz, rozwiąż, bereken, los op, beräkna, hesapla, calcola,
     risolvi, dimostra, calcula, calcular, train leaves, mean and, median, trapezoid, cylinder`,
    `number, numbers, formula, graph, angle, area, volume, circle, digits, integer, integers, real, function f, average, total, per hour, km,
     sum, product, ratio, zero, even, odd, combien de, cuántos, quantos, wie viele, wieviel, coin, cards, cube, vector, factor`,
  ),
  security_audit: terms(
    `security audit, penetration test, pentest, pentesting, threat model, threat modeling, cve, incident response, malware, phishing, ransomware,
     soc 2, iso 27001, attack surface, exploit, privilege escalation, mitre, mitre att&ck, siem, firewall rules, firewall, hardening,
     vulnerability assessment, vulnerability scan, nmap, intrusion, audit log, audit logs, compliance, gdpr, hipaa, pci, zero trust, red team,
     blue team, sicherheitsaudit, audit de sécurité, auditoría de seguridad, auditoria de segurança, breach, forensic, forensics,
     indicators of compromise, ioc, yara, owasp, burp, wireshark, encryption at rest, access control, key rotation, mfa, suspicious, data breach,
     leaked, compromised, account takeover, security policy, security questionnaire, risk assessment, risk register, vendor risk, pen test, cvss,
     zero-day, backdoor, lateral movement, brute force, credential stuffing, social engineering, tabletop, playbook, dlp, edr, xdr, soc, sast,
     dast, nis2, dora, iso27001, sox, fedramp, datenschutz, dsgvo, rgpd, lgpd, angriff, attaque, ataque, attacco, cyberangriff, incidente,
     sicherheitsvorfall, encryption keys, least privilege, password manager, 2fa`,
    `security, attack, attacker, risk, threat, audit, controls, policy, credentials, password, encryption, tls, logs, sicherheit, sécurité,
     seguridad, segurança, iam, permissions`,
  ),
  devops: terms(
    `kubernetes, crashloopbackoff, oomkilled, kubectl, on-call, incident, postmortem, post-mortem, sre, slo, sla, alerting, grafana, prometheus,
     load balancer, autoscaling, blue-green, canary, rollback, downtime, latency spike, outage, aws, ec2, s3, gcp, azure, cloud costs, cloud,
     monitoring, observability, logs show, disk full, out of memory, scaling, high availability, disaster recovery, vpc, dns, tls certificate,
     certificate, ssl certificate, runbook, failover, service mesh, istio, rate limiting, deployment failed, rolling update, node pool, eks, gke,
     502, 503, 504, cpu usage, throughput, uptime, backups, slos, error budget, on call, pager, pagerduty, status page, root cause of the outage,
     rollout, rollouts, blue/green, feature flags, gitops, iac, infrastructure as code, cost of our, egress, spot instances, reserved instances,
     cdn, cloudfront, cloudflare, multi-region, rpo, rto, chaos engineering, dora metrics, mttr, deploys, deployments, hochverfügbarkeit,
     ausfall, bereitschaft, déploiement, panne, despliegue, caída, implantação, wdrożenie, zero downtime, zero-downtime, memory limit,
     autoscaler, hpa, statefulset, noisy neighbor, p99, latency`,
    `server, deploy, deployment, infrastructure, production, staging, cluster, pod, pods, nodes, traffic, monitor, alert, alerts, metrics,
     region, cost, instances, release, network, ci, container, lambda, vm, vms, serverless, capacity`,
  ),
};
