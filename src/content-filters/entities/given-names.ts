/**
 * Given names that are common in English, German, French, Spanish, Italian, Portuguese, Slavic, Arabic, Indian and East
 * Asian families, in lower case. Those that are words as well (Grace, Mark, May, Will) are not here.
 */
export const GIVEN_NAMES: ReadonlySet<string> = new Set(
  `aaron abdul abigail adam adriana ahmed aisha akira alan albert alejandro alessandro alexander alexandra alfred ali alice
  alicia alina allison amanda amelia amir amit amy ana anastasia andrea andreas andrew angela anika anita anna anne annette
  anthony antoine antonio anya arjun arthur ashley astrid audrey aurora barbara beatriz benjamin bernard beth bianca bjorn
  bradley brandon brenda brian bridget bruno caitlin camila carla carlos carmen caroline catherine cecilia celine charlotte
  chloe christian christina christine christopher claire clara claudia colin connor cristina cynthia damien daniel daniela
  danielle david deborah deepak denis dennis derek diana diego dieter dimitri dmitri dominic donald donna dorothy douglas
  edward eduardo eileen elena eleanor elizabeth ella ellen emily emma enrique eric erika ernesto esther eugene eva evelyn
  fatima felipe felix fernanda fernando fiona florian frances francesca francesco francisco franziska friedrich gabriel
  gabriela gareth gary gavin george gerald gerard giovanni giulia gonzalo gordon greta guillermo gunther gustavo hannah hans
  harold hassan heather heidi heinrich helen helena helmut henri henrik henry hiroshi howard hugo ian ibrahim ignacio igor
  ingrid irina isaac isabel isabella ivan jacob jacqueline jacques jaime jakob jakub james jamie jane janet javier jean
  jeffrey jennifer jeremy jessica joan joanna joao jocelyn joel johan johann johanna john johnny jonathan jorge jose joseph
  josephine joshua juan judith julia julian julie juliette jurgen justin karen karim karl katarzyna katharina katherine
  kathleen katrin kavita keiko keith kelly kenji kenneth kerstin kevin khalid klaus kristen kristina kurt laura lauren
  laurent lawrence leah leila leonard leonardo leslie liam linda lisa lorenzo louise lucas lucia luigi luis luka lukas maja
  malcolm manfred manuel marcel marcelo marco marcus margaret maria mariana marie marina mario marion marta martha martin
  martina matthew matthias mateo maurice max maximilian megan mehmet melanie melissa michael michel michelle miguel mikhail
  mohamed mohammad mohammed monica monique muhammad nadia nancy naomi natalia natalie natasha nathalie nathan neil nicholas
  nicola nicolas nicole nikolai nina noah nora norbert olga oliver olivia omar oscar osama pablo paola patricia patrick paul
  paula pauline pavel pedro petra philip philippe phoebe pierre piotr priya rachel rafael rahul raj rajesh ralph ramon raphael
  raquel ravi raymond rebecca renate ricardo richard rita robert roberto rodrigo roger roland ronald rosa roxanne ruth ryan
  sabine sally samantha samuel sandra sanjay sara sarah sarita sebastian sergei sergio sharon shirley silvia simon simone
  sofia sonia sophia sophie stefan stefanie stella stephanie stephen steven stuart sunita susan susanne suzanne svetlana sven
  sylvia takashi tamara tania tanya tatiana teresa theodore theresa thomas thorsten tiffany timothy tobias tomas tomasz
  tracy ursula uwe valentina valeria vanessa vera veronica victor victoria vikram vincent viktor virginia vivian vladimir
  walter wanda wei werner wendy wilhelm william wolfgang xavier yasmin yolanda yuki yusuf yvonne zachary zoe`.split(
    /\s+/,
  ),
);
