package main

import "tagnet/model/gpu"

// stepCosts counts what the phases of a training step read, write and compute.
func (k *kit) stepCosts(gpu.Work) costs { return nil }

// queryCosts counts what the phases of scoring a query read, write and compute.
func (k *kit) queryCosts(gpu.Work) costs { return nil }
