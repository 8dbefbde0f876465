package synthetic

// shop draws customers with tastes, and what they look at and buy. Planted are:
//
//   - who likes a brand buys what it makes (95%); 8% of what is bought is noise
//   - who buys an item has viewed it; a fifth of what is viewed is noise
//   - also_bought is symmetric, and between items of one category
func shop(d *draft) {
	// The symmetric relation, and the names of customers and categories.
	d.mirror("also_bought")
	var customers []string
	for range 330 {
		customers = append(customers, d.person(pick(d.random, surnames)))
	}
	d.name("customer", customers...)
	d.name("category", categoryNames...)

	// Each brand makes items of two categories.
	var items []string
	shelves := make([][]string, len(categoryNames))
	for _, brand := range d.name("brand", brandNames...) {
		for _, category := range d.random.Perm(len(categoryNames))[:2] {
			for _, product := range some(d.random, productNames[category], 3) {
				item := brand + " " + product
				items, shelves[category] = append(items, item), append(shelves[category], item)
				d.add(item, "made_by", brand)
				d.add(item, "in_category", categoryNames[category])
			}
		}
	}
	d.name("item", items...)
	d.rules = append(d.rules, planted{namedRule{"in_category", []step{{"also_bought", false}, {"in_category", false}}}, 1})
	for _, shelf := range shelves {
		for _, item := range shelf {
			for range 2 {
				d.add(item, "also_bought", pick(d.random, shelf))
			}
		}
	}

	// Customers like brands, and the rules add what they buy and view.
	for _, customer := range customers {
		for _, brand := range some(d.random, brandNames, 1+d.random.IntN(2)) {
			d.add(customer, "likes", brand)
		}
	}
	d.plant(.95, .08, "bought", step{"likes", false}, step{"made_by", true})
	d.plant(1, .2, "viewed", step{"bought", false})
}
