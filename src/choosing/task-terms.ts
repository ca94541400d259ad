import type { TaskTag } from './task-tags.ts';

/**
 * Words and pairs of words that speak for a tag, in lower case: those that nearly decide, and those that only hint. Written
 * for this project, in the languages that callers write; whoever adds one runs `npm run eval:router -- --split tuning`.
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
    `write a function, implement, implementiere, implementieren, implémente, implementa, implemente, python function, unit test, unit tests, unittest, pytest, algorithm in, leetcode,
     class that, rest api, write code, write a program, write a script, python script, refactor, refaktoriere, typescript, javascript, golang, rust, kotlin, c++, java, programm, 
     programa en, fonction python, función, função, recursion, linked list, binary tree, data structure, type hints, docstring, async function, decorator, sdk, boilerplate`,
    `function, class, method, python, code, library, module, package, api, endpoint, parse, generic, interface, compile, algorithm, regex, script, node.js, django, flask, fastapi, spring, iterator,
     funktion, klasse, fonction, código, codice, django model, thread, mutex, cache, queue, cli tool`,
  ),
  'code:debugging': terms(
    `traceback, stack trace, stacktrace, segfault, segmentation fault, nullpointerexception, typeerror, valueerror, keyerror, attributeerror, indexerror, referenceerror, syntaxerror, importerror,
     modulenotfounderror, undefined is, is not a function, is undefined, cannot read, debug, debugging, fix this, fix the bug, why does this, why is this, doesn't work, does not work, not working,
     throws, exception, panic:, failing test, test fails, tests fail, race condition, memory leak, deadlock, off-by-one, unexpected behavior, bug, fehlermeldung, funktioniert nicht, ne marche, ne fonctionne, 
     no funciona, não funciona, non funziona, wirft, core dumped, infinite loop, flaky`,
    `error, fails, failing, crash, crashes, broken, wrong, fehler, erreur, fallo, erro, unexpected, expected, returns null, none, undefined, nan, fix, issue, stuck, hangs, warning, log, line`,
  ),
  'code:file_read_write': terms(
    `edit the file, update the file, modify the file, in the file, open the file, rename the, save it, apply the patch, apply this, diff, in src, readme.md, package.json, write to file, create a file, create file,
     change the file, add a line, config file, datei, fichier, archivo, arquivo`,
    `file, files, path, folder, directory, src, patch, append, overwrite, replace`,
  ),
  'code:frontend_ui': terms(
    `react, react component, jsx, tsx, tailwind, css, html, svelte, vue, vue.js, angular, next.js, nextjs, flexbox, css grid, landing page, navbar, button component, dark mode, responsive, dom, useeffect, usestate,
     shadcn, webpage, web page, website, storybook, stylesheet, hover, modal, dropdown, accessibility, aria, figma, svg icon, media query, carousel, sidebar, tooltip, sass, scss, z-index, webseite`,
    `component, frontend, front-end, ui, layout, button, form, page, styling, style, browser, animation, canvas, props, click, center, div, input field, scroll, header, footer, design`,
  ),
  'code:review_security': terms(
    `code review, review this, review my, review the, pull request, review these, sql injection, xss, csrf, vulnerabilities, vulnerability in, is this code, is this safe, secure code, insecure, injection, sanitize, 
     hardcoded, code smell, code smells, security issues, security review, code-review, überprüfe, relis, revisa, revise, best practices, maintainability, path traversal, ssrf, deserialization`,
    `review, vulnerability, unsafe, secure, merge, feedback, approve, nitpick, escape, auth, token, exploit, prüfe`,
  ),
  'code:shell_execution': terms(
    `bash, bash script, shell script, shell command, one-liner, command line, terminal, powershell, awk, sed, grep, chmod, cron job, crontab, find all, ffmpeg, rsync, ssh, curl command, zsh, xargs, tar, run the, 
     execute the, git command, git rebase, git bisect, kill the process, list all processes, du, df, systemctl, jq, imagemagick, shell-befehl, commande shell, comando`,
    `command, script, linux, ubuntu, macos, unix, environment variable, pipe, stdin, stdout, process, disk, sudo, install, pip install, npm install, git`,
  ),
  'code:repo_scan': terms(
    `codebase, repository, this repo, the repo, code base, entire project, where is, which files, find where, call graph, find usages, project structure, architecture of, dependency graph, monorepo, all files, how does this project,
     walk me through, explain the codebase, repo, code-basis, dépôt, repositorio, entry point, dead code, unused exports, where do we, who calls`,
    `project, modules, imports, structure, references, usages, files, folders, overview, map, architecture`,
  ),
  'code:sql_database': terms(
    `sql, sql query, select from, left join, inner join, group by, postgres, postgresql, mysql, sqlite, database schema, migration, orm, index on, explain analyze, mongodb, aggregation pipeline, window function, cte, primary key,
     foreign key, snowflake, bigquery, redis, query plan, normalize, stored procedure, tables, datenbank, base de datos, base de données, banco de dados, order by, upsert, jsonb, prisma, materialized view, partition, sharding, deadlocks`,
    `query, table, column, database, rows, join, schema, index, records, tabelle, abfrage, requête, consulta, tabla, tabela`,
  ),
  'code:devops_config': terms(
    `dockerfile, docker-compose, docker compose, kubernetes manifest, helm chart, helm, terraform, github actions, gitlab ci, ci pipeline, ci/cd, yaml file, nginx config, nginx, ansible, jenkinsfile, jenkins, systemd unit, 
     kustomize, argo, argocd, cloudformation, pulumi, makefile, webpack, vite config, eslint, tsconfig, prometheus config, traefik, envoy, deployment yaml, values.yaml, workflow file, multi-stage, healthcheck, ingress, hcl, vagrant, caddyfile, pre-commit`,
    `docker, kubernetes, config, yaml, pipeline, container, deploy, build, env, stage, image, cluster, pod, configmap, toml`,
  ),
  'agent:workflow_execution': terms(
    `workflow, automation, automate, each step, then send, and then, after that, finally, once done, zapier, run the workflow, carry out, process all, for each, trigger, approve the, schedule a meeting, book a, file the, onboarding, hand over`,
    `steps, task, tasks, ticket, calendar, email, update, notify, crm, invoice, complete, execute, send`,
  ),
  'agent:multi_step_planning': terms(
    `step-by-step plan, step by step plan, make a plan, create a plan, plan for, break down, break this down, break it down, roadmap, milestones, project plan, plan the, planning, decompose, subtasks, sub-tasks, action plan,
     plan out, before you start, do not execute, don't execute, dependencies between, gantt, plan de, einen plan, planifica, planeja, schritte, phases, itinerary, sprint plan, migration plan, sequence of, work breakdown, prioritize, contingency`,
    `plan, steps, goal, goals, timeline, order, prioritise, strategy, phase, week, weeks, agent, agents, dependencies`,
  ),
  'agent:tool_dispatch': terms(
    `use the tool, call the, which tool, function call, function calling, tool call, tools available, call the api, invoke, turn on, turn off, set a, set the, set an, remind me, play, get the weather, weather in, look up, check the, order status, book, 
     what's the weather, stock price of, add to, create an event, send an, cancel my, wetter, météo, clima`,
    `tool, tools, weather, lights, timer, alarm, reminder, temperature, get, check, schedule, fetch, current`,
  ),
  'agent:memory_extraction': terms(
    `remember that, remember, memory, memories, long-term memory, user facts, facts about the user, user's preferences, user preferences, extract memories, save to memory, update the profile, user profile, what do you know about me, 
     worth remembering, should be remembered, persistent, conversation summary, merke dir, souviens-toi, recuerda, lembre, facts worth, previous conversations, store the fact`,
    `preferences, profile, facts, recall, forget, store, history, conversation, notes`,
  ),
  'agent:web_search': terms(
    `search the web, web search, search online, google, latest news, look online, find online, browse, on the internet, current news, today's, recent news, up-to-date, as of today, search for, breaking, with sources, cite sources, 
     im internet, recherche sur, busca en, pesquise, sur internet, this week, right now, latest, newest, who won, current price, release date, what happened`,
    `search, today, recent, current, news, sources, links, website, url, online, yesterday, heute, aujourd'hui, hoy, hoje, 2025, 2026`,
  ),
  'data:extraction': terms(
    `extract, extrahiere, extraire, extrais, extrae, extraia, extraiga, pull out, from the following text, named entities, entities, entity extraction, parse the invoice, invoice number, into json, as json, return json, json with, fields:, 
     key-value, list all the, all dates, all names, phone numbers, email addresses, line items, structured data, key facts from, resume, receipt, populate, fill in the fields, ner, from this email, from the contract`,
    `fields, field, invoice, json, values, names, dates, amounts, document, contract, text below, following, identify, schema`,
  ),
  'data:transformation': terms(
    `convert, convert this, konvertiere, convertis, convierte, converta, csv to, to csv, json to, to json, to yaml, to xml, xml to, to markdown, reformat, format this, normalize the, clean the data, clean up this, pivot, transpose, deduplicate, 
     sort this, merge these, into a table, as a table, tabelle um, transform, map each, rename the columns, iso 8601, date format, snake_case, camelcase, restructure, rearrange, alphabetically, flatten, parse the csv, spreadsheet, excel formula, one per line, unify, group these`,
    `csv, table, columns, rows, list, json, xml, yaml, format, markdown, data, excel, sheet, clean, dataset, pandas, lines`,
  ),
  classification_tagging: terms(
    `classify, klassifiziere, classifie, classifique, clasifica, categorize, categorise, sentiment, positive or negative, label the, labels:, which category, one of the following, spam, is this spam, toxic, intent, intents, topic of, 
     tag this, tags, assign a, assign one, moderation, true or false, yes or no, answer only, answer with one, sentiment analysis, urgency, ordne, kategorie, catégorie, categoría, categoria, kategorisiere, rate the sentiment, multi-label, route this, triage, genre`,
    `category, categories, label, labels, positive, negative, neutral, class, classes, rating, priority, detect, options`,
  ),
  content_writing: terms(
    `blog post, write an article, write a blog, essay, write an essay, cover letter, product description, newsletter, press release, linkedin post, tweet, instagram, caption, headline, headlines, slogan, tagline, speech, poem, write a poem, haiku, 
     short story, write a story, wedding, rewrite, rephrase, proofread, improve the, make it sound, more professional, paraphrase, edit this, script for, song, lyrics, copywriting, ad copy, landing page copy, bio, write a letter, artikel, gedicht, 
     rédige, redacta, redija, escribe un, écris, schreibe, schreib, escreva, scrivi, aufsatz, umformulieren, reformule, toast, eulogy, limerick, sonnet, job posting, sales email, cold email, follow-up email, brand voice, hook, seo, outline for`,
    `write, article, blog, post, tone, paragraph, words, draft, letter, email, marketing, audience, catchy, creative, story, engaging, title, persuasive, polish, brand, grammar, introduction, text`,
  ),
  qa_knowledge: terms(
    `what is, what are, nedir, who is, who was, when did, when was, why do, why is, why are, how does, how do, how many, explain, define, difference between, what does, capital of, meaning of, tell me about, was ist, warum, wie funktioniert, erkläre,
     qu'est-ce, pourquoi, comment fonctionne, explique, qué es, por qué, cómo funciona, o que é, por que, che cos'è, perché, history of, how long, which country, is it true, can you explain, what causes, eli5, in simple terms, what year, how far, how old, inventor`,
    `what, who, when, where, why, how, which, meaning, example, theory, history, science, difference, wer, wann, wo, wie, quoi, quel, quelle, cuál, quién, qual, quem`,
  ),
  conversational_reply: terms(
    `hi, hello, hey, merhaba, good morning, how are you, thanks, thank you, hallo, guten morgen, bonjour, salut, hola, olá, ciao, what's up, i feel, i'm feeling, feeling, i am sad, lonely, bored, let's chat, chat with, talk to me, my day, good night, 
     lol, haha, merci, danke, gracias, obrigado, i miss, i had, my girlfriend, my boyfriend, my friend, my mom, my boss, just wanted, nice to meet, how was your, vent, cheer me, wie geht's, ça va, qué tal, tudo bem, reply to this message, how should i reply, text back, respond to`,
    `you, me, feel, friend, today, really, sorry, okay, ok, nice, sad, happy, tired, love, talk, chat, advice, weekend`,
  ),
  roleplay_fiction: terms(
    `roleplay, role-play, role play, stay in character, in character, you are a wizard, dungeon master, dnd, d&d, pretend you, pretend to, act as, imagine you are, fantasy, rpg, nsc, npc, *smiles*, *she, *he, campaign, character sheet, tavern, 
     continue the story, fan fiction, fanfiction, first person, spiel die rolle, joue le rôle, interpreta, persona, narrator, scene:, chapter, in-character, roleplaying, protagonist, villain, worldbuilding, text adventure, novel`,
    `character, dragon, knight, story, scene, dialogue, magic, kingdom, sword, vampire, elf, detective, captain, spaceship, whispers, world, quest`,
  ),
  customer_support: terms(
    `refund, my order, order number, customer support, customer service, support agent, cancel my subscription, cancel my, return policy, tracking number, complaint, i was charged, charged twice, billing, my account, reset my password, 
     can't log in, cannot log in, hasn't arrived, not arrived, haven't received, delivery, warranty, support ticket, dear customer, rückerstattung, bestellung, remboursement, commande, reembolso, mi pedido, meu pedido, kundenservice, service client, 
     locked out, damaged, replacement, exchange, shipping, invoice for, subscription, helpdesk, agent assist`,
    `order, account, customer, support, package, payment, password, login, cancel, return, help me, policy, charge, email, product, received, apologize, ticket, konto, compte, cuenta`,
  ),
  summarization: terms(
    `summarize, summarise, özetle, streść, summary, tl;dr, tldr, fasse, zusammenfassung, zusammenfassen, résume, résumé, résumer, resume el, resume este, resumen, resuma, resumo, riassumi, key points, main points, key takeaways, bullet points, in one sentence, 
     condense, shorten, meeting notes, minutes, recap, abstract of, in a nutshell, executive summary, gist, action items, boil down, digest, highlights of, takeaways`,
    `article, transcript, following text, meeting, brief, short, sentences, bullets, notes, key, main, points, paper, thread`,
  ),
  image_prompting: terms(
    `image prompt, midjourney, stable diffusion, dall-e, dalle, generate an image, create an image, draw, draw me, picture of, photo of, illustration, logo, prompt for, image of, render, photorealistic, watercolor, oil painting, 8k, cinematic, 
     text-to-image, negative prompt, zeichne, bild von, erstelle ein bild, dessine, génère une image, dibuja, genera una imagen, desenhe, gere uma imagem, wallpaper, poster, sketch, --ar, icon of, concept art, flux, sdxl, bokeh, isometric, pixel art`,
    `image, picture, style, background, lighting, portrait, scene, colors, camera, art, visual, lens, bild, imagen, texture`,
  ),
  research_report: terms(
    `research report, literature review, report on, in-depth, comprehensive report, market analysis, market research, competitive analysis, whitepaper, deep dive, deep research, state of the art, systematic review, compare and contrast, pros and cons of, 
     with citations, citations, references, bibliography, analysis of the, industry analysis, policy brief, survey of, evidence, peer-reviewed, studie, bericht über, rapport sur, informe sobre, relatório sobre, research question, methodology, meta-analysis, 
     feasibility study, landscape of, trends in, comparative study, background report, findings`,
    `research, report, analysis, study, studies, data, sources, compare, impact, trends, market, evaluate, overview, comprehensive, detailed, sections, assess, implications`,
  ),
  finance_trading: terms(
    `stock, stocks, trading strategy, portfolio, options, call option, put option, etf, dividend, dcf, discounted cash, balance sheet, p/e, earnings, cash flow, bitcoin, crypto, forex, hedge, hedging, bond, yield curve, sharpe, backtest, rsi, macd, moving average, 
     invest, investment, interest rate, mortgage, 401k, roth, ira, aktie, aktien, depot, action boursière, bourse, acciones, bolsa, ações, valuation, ebitda, revenue growth, black-scholes, volatility, short selling, inflation, loan, compound interest, tax, taxes, amortization, futures, swap, var, nasdaq, s&p, 10-k, quarterly, liquidity`,
    `price, market, risk, return, buy, sell, trade, profit, rate, capital, asset, fund, budget, revenue, margin, usd, eur, quarter, bank, shares`,
  ),
  translation: terms(
    `translate, translation, przetłumacz, çevir, übersetze, übersetzen, übersetzung, traduis, traduire, traduction, traduce, traducir, traducción, traduza, traduzir, tradução, traduci, into english, into german, into french, into spanish, into japanese, into chinese, 
     to english, to german, to french, to spanish, to japanese, to chinese, to portuguese, into portuguese, into italian, to italian, to korean, into korean, into arabic, to arabic, to hindi, into hindi, ins deutsche, ins englische, en anglais, en français, al inglés, al español, para o inglês, para inglês, para português, 
     localize, how do you say, how do i say, wie sagt, comment dit-on, cómo se dice, en español, auf englisch, auf deutsch, in french, in german, in spanish, in japanese, subtitles, translator`,
    `english, german, french, spanish, japanese, chinese, italian, portuguese, language, korean, russian, arabic, hindi, literal, idiom, native speaker, formal`,
  ),
  math: terms(
    `solve, solve for, çöz, equation, equations, integral, derivative, prove that, proof, theorem, calculate, compute the, probability, probability of, matrix, eigenvalue, eigenvalues, polynomial, quadratic, triangle, geometry, modulo, prime number, primes, limit of, 
     differential equation, factorize, factor, combinatorics, permutations, how many ways, lemma, löse, gleichung, beweise, berechne, résous, équation, démontre, calcule, resuelve, ecuación, resolva, equação, demuestra, find x, find the value, expected value, variance, 
     standard deviation, vector, dot product, arithmetic, geometric series, sum of, square root, logarithm, sin, cos, wahrscheinlichkeit, probabilité, probabilidad, hypotenuse, divisible, gcd, word problem, percent of, binomial, convex, isomorphic, bijection, converges`,
    `number, numbers, formula, graph, angle, area, volume, circle, digits, integer, integers, real, set, function f, percent, average, total, per hour, km, sum, product, ratio, zero, even, odd`,
  ),
  security_audit: terms(
    `security audit, penetration test, pentest, pentesting, threat model, threat modeling, cve, incident response, malware, phishing, ransomware, soc 2, iso 27001, attack surface, exploit, privilege escalation, mitre, mitre att&ck, siem, firewall rules, firewall, hardening, 
     vulnerability assessment, vulnerability scan, nmap, intrusion, audit log, audit logs, compliance, gdpr, hipaa, pci, zero trust, red team, blue team, sicherheitsaudit, audit de sécurité, auditoría de seguridad, auditoria de segurança, breach, forensic, forensics, indicators of compromise, ioc, yara, owasp, burp, wireshark, encryption at rest, access control, key rotation, mfa, suspicious`,
    `security, attack, attacker, risk, threat, audit, controls, policy, credentials, password, encryption, tls, logs, sicherheit, sécurité, seguridad, segurança, iam, permissions`,
  ),
  devops: terms(
    `kubernetes, crashloopbackoff, oomkilled, kubectl, on-call, incident, postmortem, post-mortem, sre, slo, sla, alerting, grafana, prometheus, load balancer, autoscaling, blue-green, canary, rollback, downtime, latency spike, outage, aws, ec2, s3, lambda, gcp, azure, 
     cloud costs, cloud, monitoring, observability, logs show, disk full, out of memory, scaling, high availability, disaster recovery, vpc, dns, tls certificate, certificate, ssl certificate, runbook, capacity, failover, service mesh, istio, rate limiting, deployment failed, rolling update, node pool, eks, gke, 502, 503, 504, cpu usage, throughput, uptime, backups`,
    `server, deploy, deployment, infrastructure, production, staging, container, cluster, pod, pods, nodes, traffic, monitor, alert, alerts, metrics, region, cost, instances, release, network, ci`,
  ),
};
