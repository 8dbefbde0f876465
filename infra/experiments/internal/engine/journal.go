package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tagnet/formats/results"
)

// event is a line of a run's journal: a process began, or ended.
type event struct {
	// Stage is train, or the protocol that a process of score evaluates.
	Stage string    `json:"stage"`
	Time  time.Time `json:"time"`
	// Ended is false for the line that is written when the process begins, and Resumed true where it found checkpoints.
	Ended   bool `json:"ended"`
	Resumed bool `json:"resumed,omitempty"`
	// Commit, Modified and Machine describe the program and the machine of the process.
	Commit   string          `json:"commit"`
	Modified bool            `json:"modified"`
	Machine  results.Machine `json:"machine"`
	// Seconds and CPUSeconds are the usage of a process that has ended.
	Seconds    float64 `json:"seconds,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
}

// journal is the file with the processes of a run.
type journal string

func (j journal) append(e event) error {
	e.Time = time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(j)), 0o777); err != nil {
		return err
	}
	before, err := os.ReadFile(string(j))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if n := len(before); n > 0 && before[n-1] != '\n' { // a line that a crash or a full disk cut short
		text = append([]byte("\n"), text...)
	}
	file, err := os.OpenFile(string(j), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Close())
}

// read returns the processes of a run, none if another program started them. A line that a crash or a full disk cut short is left out, so that
// the processor time of its process is not known.
func (j journal) read() ([]event, error) {
	file, err := os.Open(string(j))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []event
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			events = append(events, e)
		}
	}
	return events, lines.Err()
}

// trained summarizes the processes of a training.
type trained struct {
	known      bool    // the journal has one
	event              // the last that ended, or the last that began if all were killed
	cpuSeconds float64 // of all of them, 0 if the journal lacks one
}

// training summarizes the processes of a training. The processor time is unknown if one of them was killed.
func training(events []event) trained {
	var t trained
	begun, ended, foreign := 0, 0, false
	for _, e := range events {
		switch {
		case e.Stage != trainStage:
		case e.Ended:
			ended++
			t.event, t.cpuSeconds = e, t.cpuSeconds+e.CPUSeconds
		default:
			foreign = foreign || begun == 0 && e.Resumed // another program began it
			begun++
			if ended == 0 {
				t.event = e
			}
		}
	}
	t.known = begun+ended > 0
	if foreign || begun != ended {
		t.cpuSeconds = 0
	}
	return t
}

// scored returns the seconds of the last process that evaluated with a protocol, 0 if they are not known.
func scored(events []event, protocol string) float64 {
	for _, e := range slices.Backward(events) {
		if e.Stage == protocol && e.Ended {
			return e.Seconds
		}
	}
	return 0
}

// trainStage is the stage of a training.
const trainStage = "train"
