// How the search ranks pages: Sphinx's own weights, but the changelog and the tables of benchmarks and experiments,
// which contain nearly every word, come after all other pages.
var Scorer = {
  score: ([docname, , , , score]) => (/^(results\/|benchmarks$|changelog$)/.test(docname) ? score - 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
