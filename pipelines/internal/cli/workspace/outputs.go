package workspace

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/workspace/manifest"
)

// Missing is the error of a job that ended without writing an output: its folder cannot be published.
type Missing struct{ Folder, File string }

// Error names the file, the likely cause and what to do.
func (m *Missing) Error() string {
	return fmt.Sprintf("the job ended, but %s has no %s: if the workers run on other hosts, they need a --workspace that they share with this one (a "+
		"shared folder or gs://bucket/prefix); run again",
		m.Folder, m.File)
}

// sharded matches the name of a shard, such as part-00003-of-00016.parquet.
var sharded = regexp.MustCompile(`^(.*-)(\d+)(-of-)(\d+)(\..*)$`)

// missing returns a *Missing if one of Outputs is not among the files of the folder, or if a file is
// one of several shards of which another does not exist.
func (s *Output) missing(files []manifest.File) error {
	names := map[string]bool{}
	for _, f := range files {
		names[f.Name] = true
	}
	// An output is a file, or a folder with at least one.
	for _, output := range s.Outputs {
		found := names[output]
		if strings.HasSuffix(output, "/") {
			found = slices.ContainsFunc(files, func(f manifest.File) bool { return strings.HasPrefix(f.Name, output) })
		}
		if !found {
			return &Missing{Folder: s.URL(), File: output}
		}
	}
	// A name with a number and a count, such as 00002-of-00005, is one of several shards.
	for name := range names {
		part := sharded.FindStringSubmatch(name)
		if part == nil {
			continue
		}
		number, err1 := strconv.Atoi(part[2])
		of, err2 := strconv.Atoi(part[4])
		if err1 != nil || err2 != nil || of == 0 {
			continue
		}
		// Each shard looks for the next one, so that all are found.
		if next := fmt.Sprintf("%s%0*d%s%s%s", part[1], len(part[2]), (number+1)%of, part[3], part[4], part[5]); !names[next] {
			return &Missing{Folder: s.URL(), File: next}
		}
	}
	return nil
}
