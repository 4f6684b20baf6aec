// How the search ranks pages: Sphinx's own weights, but the tables of single experiments, which name their
// papers many times, come after all other pages.
var Scorer = {
  score: ([docname, , , , score]) => (docname.startsWith("results/") ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
