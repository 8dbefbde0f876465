package lists

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"tagnet/formats/workspace/manifest"
	"tagnet/infra/internal/engine"
)

// The command lines of the lists, but of commands.json, which has them itself, and of package truth. Workspaces are
// below the folder of the work.

// words returns the words of a command that is known before the run begins.
func words(list ...string) engine.Words {
	return func(context.Context, string) ([]string, error) { return list, nil }
}

// preprocess makes the graph of a workspace.
func preprocess(workspace, dataset, inference string) engine.Command {
	line := []string{"tagnet", "preprocess", "--workspace", workspace, "--dataset", dataset}
	if inference != "" {
		line = append(line, "--inference", inference)
	}
	return engine.Command{Words: words(line...)}
}

// train trains a run with the flags that are given.
func train(name, workspace, run string, flags ...string) engine.Command {
	line := append([]string{"tagnet", "train", "--workspace", workspace, "--run", run}, flags...)
	return engine.Command{Name: name, Words: words(line...), Training: path.Join(workspace, "runs", run)}
}

// score ranks the test queries of a protocol with a run, or with what the flags say, and puts the metrics
// into the run's folder.
func score(name, workspace, run, protocol string, flags ...string) engine.Command {
	line := append([]string{"tagnet", "score", "--workspace", workspace, "--run", run, "--protocol", protocol}, flags...)
	return engine.Command{Name: name, Words: words(line...), Evaluation: path.Join(workspace, "runs", run, "evaluation", protocol), Graph: workspace + "/graph"}
}

// oneThread computes on one thread of the CPU, so that processor times compare.
var oneThread = resources(1, 1024, "--device", "cpu")

// resources are the flags that change no metric, after others.
func resources(threads, memory int, others ...string) []string {
	return append(others, "--threads", strconv.Itoa(threads), "--memory", strconv.Itoa(memory))
}

// verified returns words after a file of the data has the checksum that it must have.
func verified(line engine.Words, file, sha256 string) engine.Words {
	return func(ctx context.Context, work string) ([]string, error) {
		found, err := manifest.HashFile(ctx, engine.Data(file))
		if err == nil && found.SHA256 != sha256 {
			err = fmt.Errorf("%s has SHA-256 %s, and the list %s: it is another file", file, found.SHA256, sha256)
		}
		if err != nil {
			return nil, err
		}
		return line(ctx, work)
	}
}

// below returns a folder or a file of the data as commands name it.
func below(folder string) string {
	if folder == "" {
		return ""
	}
	return "$TAGNET_DATA/" + strings.TrimPrefix(folder, "/")
}
