// Package comparison puts result files side by side: it groups trainings that differ only in their seeds, and gives each group's
// metrics as mean and standard deviation and its figures.
package comparison
