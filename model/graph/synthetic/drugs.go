package synthetic

import "fmt"

// drugs draws drugs, the proteins that they bind, and the diseases and side effects that follow. Planted are:
//
//   - similar_to and interacts_with are symmetric
//   - a drug treats a disease (97%), and causes a side effect (95%), if it binds a protein that is associated with the
//     disease, or disturbs the effect; 3% of the facts of treats and 5% of the facts of causes are noise
//   - drugs that the same enzyme breaks down interact (95%)
//
// Similar drugs are of one class, which binds three of the same four proteins; that is why they tend to treat the same.
// A tenth of the drugs bind another protein as well.
func drugs(d *draft) {
	// The symmetric relations, and the names of enzymes, diseases and side effects.
	d.mirror("similar_to")
	d.mirror("interacts_with")
	var enzymes []string
	for i := range 40 {
		enzymes = append(enzymes, fmt.Sprintf("enzyme %s-%d", proteinFamilies[i%len(proteinFamilies)], 1+i/len(proteinFamilies)))
	}
	d.name("enzyme", enzymes...)
	var illnesses []string
	for _, village := range villageNames {
		illnesses = append(illnesses, village+" fever", village+" syndrome")
	}
	d.name("disease", illnesses...)
	d.name("side effect", sideEffects...)

	// Each protein family is behind a few diseases and side effects.
	var families [][]string
	var proteins []string
	for _, family := range proteinFamilies {
		diseases, effects := some(d.random, illnesses, 4), some(d.random, sideEffects, 3)
		var members []string
		for i := range 8 {
			protein := fmt.Sprintf("%s%d", family, i+1)
			members = append(members, protein)
			for _, disease := range some(d.random, diseases, 1+d.random.IntN(2)) {
				d.add(protein, "associated_with", disease)
			}
			d.add(protein, "disturbs", pick(d.random, effects))
		}
		families = append(families, members)
		proteins = append(proteins, d.name("protein", members...)...)
	}

	// Each class of drugs binds four proteins of a family.
	for i, suffix := range drugSuffixes {
		targets := some(d.random, families[i%len(families)], 4)
		var class []string
		for _, prefix := range some(d.random, drugPrefixes, 12) {
			class = append(class, prefix+suffix)
		}
		for j, drug := range d.name("drug", class...) {
			for _, protein := range some(d.random, targets, 3) {
				d.add(drug, "binds", protein)
			}
			if d.random.Float64() < .1 {
				d.add(drug, "binds", pick(d.random, proteins))
			}
			d.add(drug, "broken_down_by", pick(d.random, enzymes))
			d.add(drug, "similar_to", class[(j+1)%len(class)])
			d.add(drug, "similar_to", class[(j+2)%len(class)])
		}
	}
	// The rules add what they conclude, and noise.
	d.plant(.97, .03, "treats", step{"binds", false}, step{"associated_with", false})
	d.plant(.95, .05, "causes", step{"binds", false}, step{"disturbs", false})
	d.plant(.95, 0, "interacts_with", step{"broken_down_by", false}, step{"broken_down_by", true})
}
