package kernel

// Score adds the terms of a row in order.
func (portable) Score(values, hidden, output []float32, bias float32) {
	for i := range values {
		sum := float32(0)
		row := hidden[i*len(output):][:len(output)]
		for j, value := range row {
			sum += float32(max(value, 0) * output[j])
		}
		values[i] = sum + bias
	}
}
